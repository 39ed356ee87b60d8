// Outbox: the calls that change a cluster, each object's in order, many objects at a time.
//
// What is urgent about an object hastens what comes before it: a binding does not wait for the turn of a nomination of
// the same pod, which has less right to one, and is withheld when that turn comes.
//
// Nothing leaves while we may not act (the lease is lost): such calls end as failed. What is about to be true of a pod
// is entered in KnownPods when its write is handed in, so that nobody writes the same again meanwhile. Lives on the
// client's thread; reports are collected from any.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/backoff.h"
#include "kube/frames.h"
#include "kube/http_client.h"
#include "kube/known_pods.h"
#include "kube/second_look.h"
#include "model/world.h"

namespace reprieve {

struct PodWrite {
    SinkStep step = SinkStep::kAnnotate;
    std::string pod;  // "ns/name"
    std::string uid;
    HttpRequest request;
    std::function<void(KnownPod&)> change;
    bool gone_is_fine = false;      // the report of a pod that is not there is no failure
    bool withheld_is_fine = false;  // nor is that of a write that its gate kept back
};

class Outbox {
public:
    using Ended = std::function<void(WriteEnd, const HttpAnswer&)>;

    Outbox(HttpClient& client, KnownPods& pods, std::function<bool()> may_act)
        : client_(&client),
          pods_(&pods),
          may_act_(std::move(may_act)) {}
    ~Outbox() { client_->forget(this); }

    // A write to a pod. `ended`, which may be empty, is called before the report is given. A request with a gate of its
    // own asks that one alone.
    void write(PodWrite write, Ended ended = {});
    // Any other call, after earlier ones to the same object.
    void call(const std::string& object, HttpRequest request, HttpClient::Done done);
    // A call that nobody waits for; what is told of an object later arrives later.
    void tell(HttpRequest request, HttpClient::Done done = {});
    // From any thread: on the client's, unless this outbox goes first.
    void run(HttpClient::Task task) { client_->run(this, std::move(task)); }
    void run_after(Duration wait, HttpClient::Task task) { client_->run_after(this, wait, std::move(task)); }

    void report(SinkReport report);
    // That nothing had to be done.
    void report_done(SinkStep step, const std::string& pod, const std::string& uid) {
        report({.step = step, .pod = pod, .uid = uid, .what = {}, .tried = false});
    }
    void collect(std::vector<SinkReport>& out);
    // Called, on the client's thread, with every failure.
    void on_failure(std::function<void()> call) { on_failure_ = std::move(call); }
    [[nodiscard]] bool idle() const { return open_ == 0; }
    // Calls that are on their way or wait for their turn, and those that nobody waits for.
    [[nodiscard]] std::int64_t queued() const { return open_ + told_; }
    // Also nothing that nobody waits for.
    [[nodiscard]] bool settled() const { return idle() && told_ == 0; }
    // Work that is not a call counts too.
    void open() { ++open_; }
    void close() { --open_; }

    [[nodiscard]] KnownPods& pods() { return *pods_; }
    [[nodiscard]] bool may_act() const { return may_act_(); }
    // The server's time, as well as it is known.
    [[nodiscard]] Time now() const { return client_->clock().now(); }

private:
    struct Waiting {
        HttpRequest request;
        HttpClient::Done done;
    };
    // The calls to one object: one is on its way, or waits for its turn; the others come after it.
    struct Line {
        std::uint64_t number = 0;  // of the first one, as the client knows it
        std::uint64_t rank = 0;
        std::deque<Waiting> behind;
    };
    struct Ending {
        SinkReport report;
        HttpRequest again;  // of an eviction: what is sent once more where the pod turns out to stay
        Backoff backoff = Backoff();
        std::chrono::steady_clock::time_point until;  // it is sent again; from the first uncertain answer on
        bool unsure = false;                          // one of its attempts may have been carried out
        bool tracked = false;
        bool gone_is_fine = false;
        bool withheld_is_fine = false;
        Ended ended;
    };
    void send(HttpRequest request, Ending ending);
    // A write has been answered; where that says nothing certain of an eviction, the pod is asked before anything is
    // sent again: nobody is evicted twice because an answer got lost.
    void answered(Ending ending, const HttpAnswer& answer);
    void look(Ending ending, const HttpAnswer& answer);
    void looked(Ending ending, std::optional<WriteEnd> seen, const HttpAnswer& answer);
    void conclude(Ending ending, WriteEnd end, const HttpAnswer& answer);
    void enter(const std::string& object, Waiting waiting);
    void leave(const std::string& object, Waiting waiting, std::uint64_t rank);
    void next(const std::string& object);

    HttpClient* client_;
    KnownPods* pods_;
    std::function<bool()> may_act_;
    std::function<void()> on_failure_;
    FrameReader reader_;
    std::unordered_map<std::string, Line> lines_;
    std::atomic<std::int64_t> open_{0};
    std::atomic<std::int64_t> told_{0};
    std::uint64_t made_ = 0;
    std::mutex mutex_;
    std::vector<SinkReport> reports_;
};

// "/api/v1/namespaces/ns/pods/name/sub" of "ns/name".
[[nodiscard]] std::string pod_path(const std::string& pod, std::string_view sub = {});

}  // namespace reprieve
