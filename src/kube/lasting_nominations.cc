#include "kube/lasting_nominations.h"

#include <vector>

namespace reprieve {

void LastingNominations::begin(const PlanPtr& plan) { plan_ = plan; }

void LastingNominations::offer(const Placement& placement) {
    const KnownPod known = outbox_->pods().find(placement.pod);
    if (known.certain && known.nominated == placement.node) return;
    // A pod that is nominated elsewhere says something that is no longer true.
    if (!known.certain || !known.nominated.empty()) return write_(plan_, placement);
    const auto before = waiting_.find(placement.pod);
    offered_[placement.pod] = {
        .plan = plan_,
        .placement = &placement,
        .since = before == waiting_.end() ? std::chrono::steady_clock::now() : before->second.since};
}

void LastingNominations::end() {
    waiting_ = std::move(offered_);
    offered_.clear();
    plan_.reset();
    look_later();
}

void LastingNominations::look_later() {
    if (waiting_.empty() || looking_) return;
    looking_ = true;
    outbox_->run_after(lasts_, [this] {
        looking_ = false;
        look();
    });
}

void LastingNominations::look() {
    const auto before = std::chrono::steady_clock::now() - std::chrono::microseconds(lasts_.us);
    std::vector<Entry> due;
    for (const auto& [pod, entry] : waiting_) {
        if (entry.since <= before) due.push_back(entry);
    }
    for (const Entry& entry : due) {
        waiting_.erase(entry.placement->pod);
        write_(entry.plan, *entry.placement);
    }
    look_later();
}

}  // namespace reprieve
