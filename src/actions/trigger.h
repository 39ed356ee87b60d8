// Trigger: whether a demand may have anybody evicted at all, by what its labels and quotas say. One rule for every
// action that evicts.
#pragma once

#include <span>
#include <string>

#include "actions/desk.h"
#include "model/config.h"

namespace reprieve {

// Why these pods have nobody evicted; empty: they may. `action`: any of the configuration, they all say the same.
[[nodiscard]] std::string trigger_refusal(const Desk& desk, const ActionConfig& action, std::span<const PodId> pods);

}  // namespace reprieve
