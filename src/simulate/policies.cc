#include "simulate/policies.h"

#include <algorithm>
#include <utility>

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, PlaceScore> kPlacements[] = {{"place:random", PlaceScore::kRandom},
                                                                   {"place:dotprod", PlaceScore::kDotProd},
                                                                   {"place:gpuclustering", PlaceScore::kGpuClustering},
                                                                   {"place:gpupacking", PlaceScore::kGpuPacking},
                                                                   {"place:bestfit", PlaceScore::kBestFit},
                                                                   {"place:fgd", PlaceScore::kFgd}};
constexpr std::string_view kSchedulers[] = {"reprieve", "none", "kube", "volcano", "koordinator", "fifo-backfill"};

ActionConfig literal(ActionKind kind) {
    ActionConfig action;
    action.kind = kind;
    action.improve = false;
    return action;
}

std::vector<ActionConfig> actions_for(std::string_view name) {
    std::vector<ActionConfig> actions{literal(ActionKind::kAllocate)};
    if (name == "kube") actions.push_back(literal(ActionKind::kPreempt));
    if (name == "volcano") {
        actions.push_back(literal(ActionKind::kGangPreempt));
        actions.push_back(literal(ActionKind::kGangReclaim));
        actions.push_back(literal(ActionKind::kBackfill));
    }
    if (name == "koordinator") actions.push_back(literal(ActionKind::kJobPreempt));
    return actions;
}

}  // namespace

std::optional<Policy> built_in_policy(std::string_view name) {
    Policy policy;
    policy.name = name;
    policy.config_text = name;
    for (const auto& [text, score] : kPlacements) {
        if (text == name) {
            policy.place = score;
            return policy;
        }
    }
    if (std::ranges::find(kSchedulers, name) == std::end(kSchedulers)) return std::nullopt;
    if (name != "reprieve") policy.config.actions = actions_for(name);
    policy.view.gangs = name != "kube";
    policy.view.queues = name != "kube" && name != "fifo-backfill";
    policy.view.priorities = name != "fifo-backfill";
    return policy;
}

std::vector<std::string> built_in_policies() {
    std::vector<std::string> names(std::begin(kSchedulers), std::end(kSchedulers));
    for (const auto& [text, score] : kPlacements)
        names.emplace_back(text);
    return names;
}

void settle_view(Policy& policy) {
    if (!policy.config.actions) return;
    for (const ActionConfig& action : *policy.config.actions) {
        if (action.cost && std::ranges::find(*action.cost, CostTerm::kLostWork) != action.cost->end())
            policy.view.checkpoints = true;
    }
}

}  // namespace reprieve
