// Placement: finds the node for one pod, with boards per shape where verdicts are local to a node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/plan.h"
#include "search/fit_board.h"
#include "search/refusal_board.h"
#include "search/session.h"
#include "state/counted_claims.h"

namespace reprieve {

enum class View : std::uint8_t { kNow, kLater };

class Placer {
public:
    explicit Placer(Session& session) : session_(session) {}

    // The best node for a pending pod in this view, among `within` (empty: all nodes). None: it fits nowhere.
    // Now means: fits with everything there is, and also when the nominated take their room.
    [[nodiscard]] NodeId find(PodId pod, View view, std::span<const NodeId> within = {});
    // Whether the pod fits on this node in this view.
    [[nodiscard]] bool fits(PodId pod, NodeId node, View view);
    // Puts the pod there, with devices of its choice. `claimed_devices`: what its claims are given if that will do.
    void put(PodId pod, NodeId node, View view, std::uint32_t note, std::span<const DeviceId> claimed_devices = {});

    [[nodiscard]] const FactAnswers& facts(PodId pod);
    // Some node does not refuse the pod for good.
    [[nodiscard]] bool could_run(PodId pod);
    // Why the pod fits nowhere. Valid until the next question.
    using Refusal = NodesRefusal;
    [[nodiscard]] const Refusal& refusal(PodId pod);
    // How often a search for places, or for devices, ended before it had tried everything.
    [[nodiscard]] std::int64_t gave_up() const { return gave_up_ + session_.filters.uncertain_answers(); }
    void give_up() { ++gave_up_; }
    // Where the devices that these pods claim can be counted; null: they have to be chosen.
    [[nodiscard]] CountedClaims* counted_claims(std::span<const PodId> pods);
    // For shapes decided node by node; null where nodes depend on each other.
    [[nodiscard]] FitBoard* board(PodId pod);

private:
    struct ShapeKey {
        SpecId spec;
        StringId ns;  // only where claims are looked up in it
        bool alone = false;
        friend auto operator<=>(const ShapeKey&, const ShapeKey&) = default;
    };
    // What a shape asks the facts of nodes. Most shapes differ in amounts alone and ask the same.
    struct FactsAsked {
        StringId host;
        std::vector<Requirement> selector;
        bool affinity_required = false;
        std::vector<NodeSelectorTerm> terms;
        std::vector<Toleration> tolerations;
        ShapeKey volumes_of;  // a shape with volumes asks for itself
        friend auto operator<=>(const FactsAsked&, const FactsAsked&) = default;
    };
    [[nodiscard]] ShapeKey key_of(PodId pod) const;
    [[nodiscard]] static FactsAsked facts_asked(const Candidate& candidate, const ShapeKey& key);
    [[nodiscard]] FitBoard* kept_board(PodId pod, bool alone);
    // Of `within` (empty: all), those that the rules about a node alone do not exclude for later.
    [[nodiscard]] std::vector<NodeId> worth_asking(PodId pod, std::span<const NodeId> within);
    void keep_those_without_nominated(PodId pod, std::vector<NodeId>& nodes);
    void keep_earliest_alternatives(PodId pod, View view, std::vector<NodeId>& nodes) const;

    Session& session_;
    std::map<ShapeKey, const FactAnswers*> facts_;
    std::map<FactsAsked, FactAnswers> answered_;
    std::map<ShapeKey, std::unique_ptr<FitBoard>> boards_;
    [[nodiscard]] Refusal ask_refusal(PodId pod);

    std::map<ShapeKey, RefusalBoard> refusals_;
    Refusal last_refusal_;  // of a pod of no such shape
    std::int64_t gave_up_ = 0;
    std::vector<std::unique_ptr<CountedClaims>> counted_;  // the last ones asked for, newest first
    std::uint32_t counted_so_far_ = 0;
    std::vector<NodeId> feasible_;
    std::vector<DeviceHold> devices_;
};

}  // namespace reprieve
