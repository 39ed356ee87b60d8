// ClaimRun: one claim of a pod gets its devices, and the pod, before the pod is bound.
//
// Finalizer; then allocation and consumer in one write; then the second look (ClaimIndex); then what the drivers ask to
// be waited for. Every write names the version it was made from: what the watch told last, and where that is too old or
// is not known, what the server says when it is asked. So a run that was cut off is simply started again: a claim that
// has the planned devices is not written to again, and one that has others is refused.
//
// Where a pod waits for victims, the Sink puts the finalizer on its claims meanwhile (`prepared_claim`): once the
// devices are free there is one write, and then the binding. Lives on the client's thread and frees itself at its end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kube/claim_index.h"
#include "kube/outbox.h"
#include "manifest/claim_write.h"
#include "model/plan.h"

namespace reprieve {

struct ClaimRunOptions {
    bool looks_twice = true;             // whether the index is told of claims, so that a second look is possible
    Duration look_patience{30'000'000};  // for our own write to come back; then the watch is broken
    Duration device_every{1'000'000};    // for what drivers report
    Duration device_patience{600'000'000};
    int conflicts = 8;  // with others that write to the same claim
};

class ClaimRun : public std::enable_shared_from_this<ClaimRun> {
public:
    // Ok, or why not.
    using Done = std::function<void(bool ok, std::string what)>;

    ClaimRun(
        Outbox& outbox, ClaimIndex& index, ClaimRunOptions options, const Placement& of, PlacedClaim claim, Time now);

    void start(Done done);
    // The pod will not be bound: if this run put it into the claim, it leaves it. Who put devices there for it takes
    // them away where nobody is left. `done` is called at the end of it.
    void take_back(std::function<void()> done);
    // The same of a pod that an earlier run, perhaps of a scheduler that died, put into the claim.
    void release(std::function<void()> done);

private:
    void look();
    void ask();
    void judge(const std::string& body);
    void create();
    void add_finalizer(const std::string& body);
    void fetch_classes(const std::string& body);
    void reserve(const std::string& body);
    void wait_for_watch(const std::string& version);
    void look_twice();
    void wait_for_devices(Duration waited);
    void tell_pod();
    void leave(std::function<void()> done);
    void write(const char* method, std::string path, std::string body);
    // Its object is judged; where somebody else was faster, or nobody knows, the server is asked.
    void after_write(const HttpAnswer& answer);
    void fail(std::string what) { done_(false, std::move(what)); }
    [[nodiscard]] std::string path(std::string_view sub = {}) const;

    Outbox* outbox_;
    ClaimIndex* index_;
    ClaimRunOptions options_;
    std::string api_version_;
    std::string pod_;  // "ns/name"
    std::string uid_;
    PlacedClaim claim_;
    Time now_;
    Done done_;
    std::map<std::string, std::string> classes_;  // as text, by name
    bool entered_ = false;                        // this run put the pod into the claim, or may have
    bool allocated_ = false;                      // and it had no devices before
    bool waits_for_watch_ = false;
    int conflicts_ = 0;
};

// The text of a claim with the finalizer, where it has no devices yet and lacks it; empty: there is nothing to prepare.
[[nodiscard]] std::string prepared_claim(const std::string& claim);

}  // namespace reprieve
