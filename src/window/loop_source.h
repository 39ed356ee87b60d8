// LoopSource: moments of a loop that runs.
//
// It observes on the loop's thread and leaves finished documents for the threads of the web server. The loop pays
// little: documents are made only while somebody looks, at most five times a second; what is large or takes long (Room,
// lifelines, explanations, what-if) is answered by a copy of the process that is forked on the loop's thread, between
// two of its steps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

#include "loop/loop_observer.h"
#include "window/copy_process.h"
#include "window/documents.h"
#include "window/lives.h"
#include "window/moment.h"
#include "window/receipt.h"

namespace reprieve::window {

struct LoopFacts {
    std::function<bool()> leads;
    std::function<bool()> synced;
    bool recording = false;
    bool dry_run = false;
    Origin origin{.kind = "loop", .arguments = ""};
};

class LoopSource final : public MomentSource, public LoopObserver {
public:
    // All of them must outlive this.
    LoopSource(Cluster& cluster, const SchedulerConfig& config, LoopFacts facts);
    ~LoopSource() override;

    // The loop's thread.
    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_trouble(const std::string& what, Time now) override;
    void on_turn(const Cluster& cluster, Time now) override;
    // The loop has ended: from now on nobody changes the cluster, and questions are answered without it.
    void loop_ended();

    // Any thread.
    Result<std::shared_ptr<const Moment>> moment(std::optional<Time> at) override;
    Result<std::string> ask(std::optional<Time> at, const Question& question) override;
    Result<std::string> room(std::optional<Time> at) override;
    Result<std::string> lifelines(std::optional<Time> at, const std::string& queue) override;
    // Namespaces that have pods.
    [[nodiscard]] std::set<std::string> namespaces() const;
    std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) override;
    [[nodiscard]] std::string kind() const override { return "loop"; }

private:
    using Clock = std::chrono::steady_clock;
    struct Request {
        std::function<Result<std::string>()> work;
        Result<CopyAnswer> answer;
        bool taken = false;
    };
    struct Sample {
        Time at;
        std::string queue;
        std::map<std::string, std::int64_t> used;
    };

    void keep_decisions(const CycleReport& report);
    void note_start(const Change& change, Time now);
    void write_starts();
    void forget_old_decisions();
    void note_promises(const CycleReport& report);
    void explain_later(const CycleReport& report, const std::vector<std::shared_ptr<DecisionEntry>>& fresh);
    void collect_whys();
    void take_sample(Time now);
    void publish(Time now, bool always);
    void serve_requests();
    [[nodiscard]] bool watched() const;
    [[nodiscard]] Result<std::string> in_a_copy(const std::function<Result<std::string>()>& work);
    [[nodiscard]] std::string samples_json() const;

    Cluster& cluster_;
    const SchedulerConfig& config_;
    LoopFacts facts_;

    // Of the loop's thread alone (and of its copies).
    Plan plan_;
    Health health_;
    Lives lives_;
    Taken taken_;
    std::deque<Sample> samples_;
    Time sampled_;
    std::set<std::string> placed_before_;
    // Decisions are numbered: those that are kept end with `last_made_`, the first of `decisions_`.
    std::int64_t last_made_ = 0;
    std::unordered_map<std::string, std::int64_t> starts_;  // UID of a pod -> the decision that places it
    std::size_t most_starts_ = 0;                           // then it is time to forget some
    std::map<std::int64_t, std::string> started_;           // decisions whose first pod runs: when; to be written
    Clock::time_point published_;
    bool stale_ = true;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<const Moment> moment_;
    std::deque<std::shared_ptr<const DecisionEntry>> decisions_;  // newest first
    std::set<std::string> namespaces_;
    std::deque<Request*> requests_;
    bool decisions_changed_ = false;
    bool ended_ = false;
    Clock::time_point asked_;  // when somebody looked last

    struct Pending {
        std::vector<std::string> ids;
        CopyAnswer answer;
    };
    std::deque<Pending> explaining_;
    std::atomic<bool> closing_ = false;
    std::condition_variable to_explain_;
    std::thread collector_;
};

}  // namespace reprieve::window
