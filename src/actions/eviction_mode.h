// How the victims of an action are removed.
#pragma once

#include "model/config.h"
#include "model/plan.h"

namespace reprieve {

inline EvictionMode eviction_mode(const ActionConfig& action) {
    switch (action.mode.value_or(EvictMode::kDelete)) {
        // Under strict budgets the API server is asked to enforce them, too.
        case EvictMode::kDelete:
            return action.pdb == PdbMode::kStrict ? EvictionMode::kEvict : EvictionMode::kDelete;
        case EvictMode::kEvict:
            return EvictionMode::kEvict;
        case EvictMode::kSoft:
            return EvictionMode::kSoft;
    }
    return EvictionMode::kDelete;
}

}  // namespace reprieve
