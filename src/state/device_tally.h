// DeviceTally: of the devices of a node that one wish selects, how many are usable now and why the others are not. Each
// device counts once, under the first reason that holds for it. It only serves the sentence for people; the choice of
// devices never looks at it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/labels.h"

namespace reprieve {

struct DeviceTally {
    std::int64_t usable = 0;
    std::int64_t held = 0;
    std::int64_t tainted = 0;
    std::int64_t small = 0;
    std::int64_t without_counters = 0;
    StringId taint;  // one of those that are not tolerated
};

// "2 of class gpu wanted, 1 free, 3 held by other claims"
[[nodiscard]] std::string shortage_text(const DeviceTally& tally,
                                        std::int64_t wanted,
                                        std::string_view cls,
                                        std::string_view taint);

}  // namespace reprieve
