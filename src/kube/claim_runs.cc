#include "kube/claim_runs.h"

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

bool is_unbound_pod(const std::string& body, const std::string& uid) {
    const nlohmann::json pod = nlohmann::json::parse(body, nullptr, false);
    if (!pod.is_object()) return false;
    return pod.value(nlohmann::json::json_pointer("/metadata/uid"), std::string()) == uid &&
           pod.value(nlohmann::json::json_pointer("/spec/nodeName"), std::string()).empty();
}

}  // namespace

ClaimRuns::ClaimRuns(Outbox& outbox, ClaimIndex& index, ClaimRunOptions options, const Placement& placement, Time now)
    : outbox_(&outbox),
      pod_(placement.pod),
      uid_(placement.uid) {
    for (const PlacedClaim& claim : placement.claims)
        runs_.push_back(std::make_shared<ClaimRun>(outbox, index, options, placement, claim, now));
}

void ClaimRuns::start(ClaimRun::Done done) {
    struct Ending {
        std::size_t open = 0;
        bool ok = true;
        std::string what;
        ClaimRun::Done done;
    };
    const auto ending = std::make_shared<Ending>(Ending{.open = runs_.size(), .what = {}, .done = std::move(done)});
    // The last of them may be the end of this.
    for (const Runs runs = runs_; const std::shared_ptr<ClaimRun>& run : runs) {
        run->start([ending](bool ok, std::string what) {
            if (!ok && std::exchange(ending->ok, false)) ending->what = std::move(what);
            if (--ending->open == 0) ending->done(ending->ok, ending->what);
        });
    }
}

void ClaimRuns::each(const Runs& runs, Step step, const std::function<void()>& done) {
    const auto open = std::make_shared<std::size_t>(runs.size());
    for (const std::shared_ptr<ClaimRun>& run : runs) {
        (run.get()->*step)([open, done] {
            if (--*open == 0) done();
        });
    }
}

void ClaimRuns::take_back(const std::function<void()>& done) const { each(Runs(runs_), &ClaimRun::take_back, done); }

void ClaimRuns::release(std::function<void()> done) const {
    HttpRequest request;
    request.path = pod_path(pod_);
    outbox_->call(
        pod_, std::move(request), [runs = runs_, uid = uid_, done = std::move(done)](const HttpAnswer& answer) {
            if (!answer.ok() || !is_unbound_pod(answer.body, uid)) return done();
            each(runs, &ClaimRun::release, done);
        });
}

}  // namespace reprieve
