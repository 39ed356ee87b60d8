// Filters: the filters that are switched on, asked in order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/config.h"
#include "plugins/filter.h"
#include "plugins/pod_topology_spread.h"

namespace reprieve {

class Filters {
public:
    explicit Filters(const PluginsConfig& config);

    // By facts only: fits, or never. Does not change while a snapshot stands.
    [[nodiscard]] Answer check_facts(const Candidate& candidate, NodeId node) const;
    // By what is there in this view. A `never` of a later filter wins over a `not now` of an earlier one.
    // `later` is asked by spread constraints, which never count terminating pods.
    [[nodiscard]] Answer check_view(const Candidate& candidate,
                                    const Occupancy& view,
                                    const Occupancy& later,
                                    NodeId node) const {
        return check(candidate, view, later, node, monotone_only_, false);
    }
    // The monotone part of the same (plugins/monotone.h): a "no" stays one whoever else is evicted and whoever comes
    // back.
    [[nodiscard]] Answer check_monotone(const Candidate& candidate, const Occupancy& later, NodeId node) const {
        return check(candidate, later, later, node, true, false);
    }
    // The rules that look at the node alone: all but spread and inter-pod affinity.
    [[nodiscard]] Answer check_local(const Candidate& candidate, const Occupancy& later, NodeId node) const {
        return check(candidate, later, later, node, true, true);
    }
    // Upstream's second pass: required affinity and hard spread also hold without the nominated pods. All other rules
    // hold without them if they hold with them.
    [[nodiscard]] bool holds_without_nominated(const Candidate& candidate,
                                               const Occupancy& later,
                                               const PromisedCounts& promised,
                                               NodeId node) const;
    // The part of the rules between pods that speaks of domains of these keys: holds with the nominated pods, and
    // without them. The same for all nodes that lie in the same domains of these keys.
    [[nodiscard]] bool holds_in_domains(const Candidate& candidate,
                                        const Occupancy& later,
                                        const PromisedCounts& promised,
                                        std::span<const TopologyKeyId> keys,
                                        NodeId node) const;
    // Whatever this class asks for beyond one node, it asks by terms about other pods.
    [[nodiscard]] bool far_by_terms_only(const PodClass& cls) const;
    // Every rule that is on and says anything about this pod is monotone.
    [[nodiscard]] bool monotone(const Snapshot& snapshot, PodId pod) const;

    // How many answers so far were not certain (Answer::certain). A "no" is the last word only if this stands still.
    [[nodiscard]] std::int64_t uncertain_answers() const { return uncertain_; }

    [[nodiscard]] bool on(FilterId id) const { return (on_ & (1U << static_cast<unsigned>(id))) != 0; }
    // Whether only amounts of resources (and devices, ports) on the node itself decide for this class.
    [[nodiscard]] bool node_local(const Snapshot& snapshot, const PodClass& cls) const;
    // Whether amounts of resources alone decide.
    [[nodiscard]] bool amounts_only(const Snapshot& snapshot, const PodClass& cls) const;

    // While it lives, `check_view` is the monotone part of itself.
    class MonotonePart {
    public:
        explicit MonotonePart(Filters& filters) : filters_(filters) { filters_.monotone_only_ = true; }
        MonotonePart(const MonotonePart&) = delete;
        MonotonePart& operator=(const MonotonePart&) = delete;
        ~MonotonePart() { filters_.monotone_only_ = false; }

    private:
        Filters& filters_;
    };

private:
    [[nodiscard]] Answer check(const Candidate& candidate,
                               const Occupancy& view,
                               const Occupancy& later,
                               NodeId node,
                               bool monotone_part,
                               bool local_part) const;

    unsigned on_ = 0;
    std::vector<std::string> only_nodes_;
    bool monotone_only_ = false;
    mutable std::int64_t uncertain_ = 0;  // of pods with claims only, which no two threads look at
    mutable SpreadBook spread_;           // only what follows from the view anyway
};

}  // namespace reprieve
