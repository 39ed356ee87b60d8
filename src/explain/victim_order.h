// The order in which those on some nodes could go for an owner, and why others could not.
#pragma once

#include <string>
#include <vector>

#include "explain/retrials.h"
#include "plugins/protection.h"

namespace reprieve {

// Every unit that the action may take on these nodes, first to go first, as it was before the plan. Empty for actions
// that keep an order of their own.
[[nodiscard]] std::vector<OrderedUnit> victim_order(const Retrials& trials,
                                                    const std::string& owner,
                                                    const std::string& action,
                                                    const std::vector<std::string>& nodes);

// Why a running pod could not be taken.
struct Exemption {
    std::string rule;  // name of the rule; empty: it could
    std::string why;   // "it is ..."
};
[[nodiscard]] Exemption exemption(const Retrials& trials,
                                  const std::string& owner,
                                  const std::string& action,
                                  const std::string& pod);
// The same where replicas of serving deployments make room for another one.
[[nodiscard]] Exemption replica_exemption(const Retrials& trials, const std::string& owner, PodId pod);

// As it is told: the plugin that switches the rule on.
[[nodiscard]] const char* rule_name(Protection protection);

}  // namespace reprieve
