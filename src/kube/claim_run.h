// ClaimRun: the claims of a pod get their devices, and the pod, before it is bound.
//
// For each claim in the order of the pod's spec: finalizer; then allocation and consumer in one write; then the second
// look (ClaimIndex); then what the drivers ask to be waited for. Every step looks before it writes and names the
// version it looked at, so that a run that was cut off is simply started again: a claim that has the planned devices is
// not written to again, and one that has others is refused. Where a step fails, or the binding after it, `take_back`
// takes the pod out of the claims that this run put it into; a claim that is left to nobody has no devices then.
// Lives on the client's thread and frees itself at its end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/claim_index.h"
#include "kube/outbox.h"
#include "manifest/claim_write.h"
#include "model/plan.h"

namespace reprieve {

struct ClaimRunOptions {
    Duration look_every{2'000};          // for our own write to come back
    Duration look_patience{30'000'000};  // then the watch is broken, and nothing is certain
    Duration device_every{1'000'000};    // for what drivers report
    Duration device_patience{600'000'000};
    int conflicts = 8;  // with others that write to the same claim
};

class ClaimRun : public std::enable_shared_from_this<ClaimRun> {
public:
    // Ok, or why not.
    using Done = std::function<void(bool ok, std::string what)>;

    // `index`: none: there is no second look.
    ClaimRun(Outbox& outbox,
             const ClaimIndex* index,
             ClaimRunOptions options,
             const Placement& placement,
             Time now,
             Done done);

    void start() { look(); }
    // The pod will not be bound: it leaves the claims that it was put into. `done` is called at the end of it.
    void take_back(std::function<void()> done);
    // The same of a pod that an earlier run, perhaps of a scheduler that died, put into these claims. First the pod is
    // asked: one that has its node keeps them.
    void release(std::function<void()> done);

private:
    void look();
    void judge(const std::string& body);
    void create();
    void add_finalizer(const std::string& body);
    void fetch_classes(const std::string& body);
    void reserve(const std::string& body);
    void wait_for_watch(const std::string& version, Duration waited);
    void wait_for_devices(Duration waited);
    void tell_pod();
    void next();
    // After a write: its object, or another look where somebody else was faster or nobody knows.
    void after_write(const HttpAnswer& answer, const std::function<void(const std::string&)>& done);
    void fail(std::string what);
    void take_back_from(std::size_t at);
    [[nodiscard]] const PlacedClaim& current() const { return claims_[at_]; }
    [[nodiscard]] std::string claim_path(const std::string& claim, std::string_view sub = {}) const;

    Outbox* outbox_;
    const ClaimIndex* index_;
    ClaimRunOptions options_;
    std::string api_version_;
    std::string pod_;  // "ns/name"
    std::string uid_;
    std::vector<PlacedClaim> claims_;
    Time now_;
    Done done_;
    std::map<std::string, std::string> classes_;  // as text, by name
    std::vector<std::string> entered_;            // claims that this run put the pod into
    std::set<std::string> allocated_;             // those of them that had no devices before
    std::function<void()> left_;                  // called when it has left them
    std::size_t at_ = 0;
    int conflicts_ = 0;
};

}  // namespace reprieve
