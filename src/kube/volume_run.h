// VolumeRun: claims that wait for their first consumer get their volumes before the pod is bound.
//
// A volume that exists is promised to its claim (claimRef), one that is to be made is asked for by telling the claim
// its node; then the run waits until the cluster's own controller calls the claim Bound. Every step looks before it
// writes, so that a run that was cut off is simply started again. Lives on the client's thread and frees itself at its
// end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/outbox.h"
#include "model/plan.h"

namespace reprieve {

struct VolumeRunOptions {
    Duration look_every{250'000};
    Duration give_up{600'000'000};  // making a disk takes its time
};

class VolumeRun : public std::enable_shared_from_this<VolumeRun> {
public:
    // Ok, or why not.
    using Done = std::function<void(bool ok, std::string what)>;

    VolumeRun(Outbox& outbox, VolumeRunOptions options, const Placement& placement, Done done)
        : outbox_(&outbox),
          options_(options),
          node_(placement.node),
          volumes_(placement.volumes),
          done_(std::move(done)) {}

    void start() { look(); }

private:
    void look();
    void look_again();
    void judge(const std::string& claim);
    void promise(const std::string& uid);
    void ask_for_disk(const std::string& selected);
    void end(bool ok, std::string what) { done_(ok, std::move(what)); }
    [[nodiscard]] const VolumeBinding& current() const { return volumes_[at_]; }

    Outbox* outbox_;
    VolumeRunOptions options_;
    std::string node_;
    std::vector<VolumeBinding> volumes_;
    Done done_;
    std::size_t at_ = 0;
    bool told_ = false;  // what the current claim needs has been written
    Duration waited_;
};

}  // namespace reprieve
