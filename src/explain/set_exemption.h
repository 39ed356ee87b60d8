// Why a pod that could go by itself could not be in the set of victims: what queues, quotas and budgets keep, and whom
// the beneficiary needs where it runs.
#pragma once

#include <string>
#include <vector>

#include "explain/victim_order.h"

namespace reprieve {

// `instead`: those who go. The rules are asked of the world before the plan.
[[nodiscard]] Exemption exemption_from_sets(const Retrials& trials,
                                            const Eviction& eviction,
                                            const std::vector<std::string>& instead,
                                            const std::string& pod);

}  // namespace reprieve
