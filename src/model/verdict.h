// Verdict: the answer "no" as a value.
#pragma once

#include <cstdint>
#include <string>

namespace reprieve {

enum class Fit : std::uint8_t {
    kFits,
    kNotNow,  // evictions may help (upstream: Unschedulable)
    kNever    // they cannot (upstream: UnschedulableAndUnresolvable)
};

// `rule` names the plugin that said no; `reason` is a sentence for people, the same for every node where the
// same thing is wrong, so that nodes can be counted by it.
struct Verdict {
    Fit fit = Fit::kFits;
    const char* rule = "";
    std::string reason;

    [[nodiscard]] bool fits() const { return fit == Fit::kFits; }
    static Verdict yes() { return {}; }
    static Verdict not_now(const char* rule, std::string reason) { return {Fit::kNotNow, rule, std::move(reason)}; }
    static Verdict never(const char* rule, std::string reason) { return {Fit::kNever, rule, std::move(reason)}; }
};

}  // namespace reprieve
