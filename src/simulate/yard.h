// Yard: a whole workload on a virtual clock, for the control loop that also runs in production.
//
// The embedded cluster of `run` keeps every object as an API server would, in JSON. A workload of a hundred thousand
// jobs needs none of that: the Yard hands the loop the same facts as values and takes the same plans. What it plays are
// the controllers and kubelets: pods of a job appear when it is submitted, work while their gang has its minimum, lose
// what they did since their last checkpoint when they are stopped, are made again, pay for the restart, and end.
//
// While nobody waits, facts are kept back until somebody does, or until the loop wants to look for itself: no decision
// could depend on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "model/vocabulary.h"
#include "model/world.h"
#include "simulate/express.h"
#include "simulate/ledger.h"
#include "simulate/outcome.h"
#include "simulate/sample_series.h"
#include "simulate/workload.h"

namespace reprieve {

// What a policy gets to see. Stand-ins for schedulers that know no gangs, queues or priorities do not see them.
struct YardView {
    bool gangs = true;
    bool queues = true;
    bool priorities = true;
    bool checkpoints = false;  // they change often; told where the policy's cost asks for lost work
};

struct YardOptions {
    Time start{std::int64_t{1'767'225'600} * 1'000'000};  // 2026-01-01T00:00:00Z
    Duration grace;                                       // from the eviction of a pod until it is gone
    std::optional<Duration> until;
    YardView view;
    // Where gangs are not seen: how long pods wait for the others of their job before they give their places back.
    Duration gang_patience = Duration::of_seconds(600);
    std::uint64_t seed = 1;
    // Pods that fit while nobody waits are bound without asking the loop, to the node that it would choose. Only for
    // policies that place by the usual scores.
    bool express = false;
};

class Yard : public Source, public Sink {
public:
    // All of them must outlive the yard. `facts` are told at the start, beside the nodes: queues, classes and the like.
    // `never`: the jobs that are not submitted, and why (empty: it is).
    Yard(Vocabulary& words,
         const std::vector<TraceNode>& nodes,
         const JobTrace& trace,
         const std::vector<std::string>& never,
         std::vector<Object> facts,
         YardOptions options);
    ~Yard() override;

    bool poll(std::vector<Change>& out, Duration wait) override;
    [[nodiscard]] Time now() const override { return {options_.start.us + now_.us}; }

    void carry_out(const Plan& plan) override;
    void collect(std::vector<SinkReport>&) override {}
    [[nodiscard]] bool idle() const override { return true; }

    // Stops whoever still works and closes the books. To be called once, when the loop has ended.
    [[nodiscard]] RunOutcome finish();
    [[nodiscard]] std::size_t jobs_done() const { return done_jobs_; }

private:
    enum class Stage : std::uint8_t { kWaiting, kHeld, kWorking, kAway, kDone };
    enum class EventKind : std::uint8_t { kPodDone, kPodGone, kNodeDown, kNodeUp, kGiveUp, kBack };

    struct PodRun {
        Stage stage = Stage::kWaiting;
        bool leaving = false;
        bool pays_restart = false;
        bool told = false;   // the loop knows of it
        bool stale = false;  // what it knows is not what is
        std::uint32_t node = 0;
        std::uint32_t life = 0;      // how often it was made
        std::uint32_t mark = 0;      // events of earlier marks are void
        std::int32_t eviction = -1;  // in the outcome, while it is leaving
        std::uint32_t place = 0;     // among the pods of its node
        Duration since;              // working
        Duration bound;
        Duration kept;
        std::unique_ptr<std::vector<DeviceHold>> devices;
    };
    struct JobRun {
        std::vector<PodRun> pods;
        std::int32_t bound = 0;
        std::int32_t done = 0;
        std::int32_t depth = 0;  // of the evictions that it suffered
        std::uint32_t tries = 0;
        bool up = false;
        StringId gang;
    };
    struct Event {
        Duration at;
        std::uint64_t order = 0;
        EventKind kind = EventKind::kPodDone;
        std::uint32_t what = 0;  // job or node
        std::int32_t pod = 0;
        std::uint32_t mark = 0;
        friend bool operator>(const Event& a, const Event& b) {
            return std::tie(a.at, a.order) > std::tie(b.at, b.order);
        }
    };
    struct PodRef {
        std::uint32_t job = 0;
        std::int32_t pod = 0;
    };
    struct NodeRun {
        Node fact;
        std::int64_t held_milli = 0;
        std::uint64_t devices = 0;  // those that are held whole, where there are no more than 64
        std::vector<PodRef> pods;
    };
    struct Nominated {
        PodRef pod;
        StringId node;
        std::optional<PlanNote> note;
    };
    struct Checkpoint {
        Duration at;
        PodRef pod;
        std::uint32_t mark = 0;
        friend bool operator>(const Checkpoint& a, const Checkpoint& b) { return a.at > b.at; }
    };

    // yard.cc: time.
    [[nodiscard]] std::optional<Duration> next_event() const;
    void advance(Duration to);
    void happen(const Event& event);
    void arrange(Duration at, EventKind kind, std::uint32_t what, std::int32_t pod = 0, std::uint32_t mark = 0);
    [[nodiscard]] Sample sample() const;
    void flush(std::vector<Change>& out);

    // yard_jobs.cc: what happens to jobs.
    void submit_all();
    void submit(std::uint32_t job);
    // Those of [first, last) that fit while nobody else waits.
    void serve_at_once(std::size_t first, std::size_t last);
    [[nodiscard]] bool any_order_is_the_same(const std::vector<std::uint32_t>& jobs);
    void bind(PodRef ref, std::uint32_t node, std::unique_ptr<std::vector<DeviceHold>> devices);
    void begin_work(PodRef ref);
    // The work it keeps and the work it loses, in the books.
    void end_work(PodRef ref, bool done);
    void leave_node(PodRef ref);
    void pod_done(PodRef ref);
    // Stopped before its end; made again at once, or when it comes back.
    void lose(PodRef ref, Stage next);
    void break_if_too_few(std::uint32_t job);
    void evict(PodRef ref);
    void give_up(std::uint32_t job);
    void come_back(std::uint32_t job);
    void fail_node(std::uint32_t node);
    void drop_job(std::uint32_t job);

    // yard_facts.cc: what the loop is told.
    void make_facts();
    void tell(Object object, bool removed = false);
    void tell_pod(PodRef ref);
    void tell_gone(PodRef ref);
    void tell_gang(std::uint32_t job, bool removed);
    void tell_checkpoints();
    [[nodiscard]] bool has_news() const { return !fresh_.empty() || !stale_.empty(); }
    [[nodiscard]] Pod pod_fact(PodRef ref) const;
    [[nodiscard]] SpecId spec_of(const TraceJob& job);
    [[nodiscard]] std::string pod_name(PodRef ref) const;
    [[nodiscard]] std::optional<PodRef> find(const std::string& uid) const;
    void echo_nominations(const Plan& plan);
    void echo_queues(const Plan& plan);

    [[nodiscard]] PodRun& run_of(PodRef ref) { return runs_[ref.job]->pods[static_cast<std::size_t>(ref.pod)]; }
    [[nodiscard]] const PodRun& run_of(PodRef ref) const {
        return runs_[ref.job]->pods[static_cast<std::size_t>(ref.pod)];
    }

    Vocabulary& words_;
    const JobTrace& trace_;
    const std::vector<std::string>& never_;
    YardOptions options_;
    Duration now_;
    std::vector<NodeRun> nodes_;
    std::map<std::string, std::uint32_t, std::less<>> node_names_;
    std::int64_t up_milli_ = 0;
    std::int64_t capacity_milli_ = 0;
    std::vector<std::unique_ptr<JobRun>> runs_;
    std::size_t next_job_ = 0;
    std::size_t done_jobs_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t next_order_ = 0;
    std::priority_queue<Checkpoint, std::vector<Checkpoint>, std::greater<>> checkpoints_;
    std::vector<Change> fresh_;
    std::vector<PodRef> stale_;  // pods to be told of, as they are then
    Express express_;
    std::int64_t leaving_pods_ = 0;
    bool begun_ = false;
    std::int64_t waiting_pods_ = 0;
    std::int64_t waiting_jobs_ = 0;
    std::int64_t running_jobs_ = 0;
    std::int64_t held_milli_ = 0;
    std::int64_t asked_milli_ = 0;
    SampleSeries series_;
    GpuLedger ledger_;
    RunOutcome outcome_;
    std::string broken_;

    StringId ns_;
    LabelsId no_labels_;
    Dim gpu_;
    std::vector<StringId> queues_;
    std::vector<StringId> topologies_;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::uint32_t>, SpecId> specs_;
    std::map<std::string, Nominated> nominated_;  // by "ns/name" of the pod
    std::map<std::string, Queue, std::less<>> queue_facts_;
};

}  // namespace reprieve
