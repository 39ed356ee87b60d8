// TouchLog: which nodes changed, most recent first, for caches that keep something per node.
//
// The Transaction notes a node with every op, applied or undone; so a cache that follows the log cannot be stale. Each
// node stands in the log once, where it was touched last: reading costs as much as there are nodes that changed since,
// and the log never grows. While a search tries what it takes back again, the log is paused: nothing will have changed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "state/ids.h"

namespace reprieve {

class TouchLog {
public:
    using Moment = std::uint64_t;

    explicit TouchLog(std::size_t nodes) : links_(nodes) {}

    void note(NodeId node) {
        if (paused_) return;
        const auto at = static_cast<std::uint32_t>(node.index());
        if (at >= links_.size()) return;
        Link& link = links_[at];
        link.moment = ++now_;
        if (newest_ == at) return;
        if (link.newer != kNone) {
            links_[link.newer].older = link.older;
            if (link.older != kNone) links_[link.older].newer = link.newer;
        }
        link.newer = kNone;
        link.older = newest_;
        if (newest_ != kNone) links_[newest_].newer = at;
        newest_ = at;
    }

    [[nodiscard]] Moment now() const { return now_; }
    // Returns whether it was paused before.
    bool pause(bool on) { return std::exchange(paused_, on); }
    // Appends the nodes that were touched after that moment.
    void since(Moment moment, std::vector<NodeId>& out) const {
        for (std::uint32_t at = newest_; at != kNone && links_[at].moment > moment; at = links_[at].older)
            out.push_back(NodeId(at));
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Link {
        Moment moment = 0;
        std::uint32_t newer = kNone;
        std::uint32_t older = kNone;
    };

    std::vector<Link> links_;  // by node
    std::uint32_t newest_ = kNone;
    Moment now_ = 0;
    bool paused_ = false;
};

}  // namespace reprieve
