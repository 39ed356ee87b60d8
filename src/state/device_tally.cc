#include "state/device_tally.h"

#include <fmt/format.h>

namespace reprieve {

std::string shortage_text(const DeviceTally& tally, std::int64_t wanted, std::string_view cls, std::string_view taint) {
    std::string out = fmt::format("{} of class {} wanted, {} free", wanted, cls, tally.usable);
    const auto mention = [&](std::int64_t count, std::string_view what) {
        if (count > 0) out += fmt::format(", {} {}", count, what);
    };
    mention(tally.held, "held by other claims");
    mention(tally.tainted, fmt::format("with untolerated taint {}", taint));
    mention(tally.small, "without the capacity asked for");
    mention(tally.without_counters, "whose counters are used up by other partitions");
    return out;
}

}  // namespace reprieve
