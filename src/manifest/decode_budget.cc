// PodDisruptionBudget.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

void decode_int_or_percent(Cursor& at, std::optional<IntOrPercent>& out) {
    if (at.is_null()) return;
    IntOrPercent& value = out.emplace();
    if (!at.is_string()) return at.read(value.value, 0, INT32_MAX);
    std::string_view text;
    at.read(text);
    const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : std::string_view();
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value.value);
    if (digits.empty() || read.ec != std::errc{} || read.ptr != end || value.value < 0 || value.value > 100) {
        return at.wrong(fmt::format("\"{}\" is neither a whole number nor a percentage", text));
    }
    value.percent = true;
}

void decode_spec(Cursor& at, DisruptionBudget& budget) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "selector"_key:
                decode_selector(*f, budget.selector);
                break;
            case "minAvailable"_key:
                decode_int_or_percent(*f, budget.min_available);
                break;
            case "maxUnavailable"_key:
                decode_int_or_percent(*f, budget.max_unavailable);
                break;
            default:
                break;
        }
    }
    if (budget.min_available && budget.max_unavailable)
        at.wrong("has both minAvailable and maxUnavailable; one is allowed");
}

void decode_status(Cursor& at, DisruptionBudget& budget) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "disruptionsAllowed"_key:
                if (!f->is_null()) f->read(budget.disruptions_allowed.emplace(), 0, INT32_MAX);
                break;
            case "disruptedPods"_key:
                for (Fields pod(*f); pod.next();)
                    budget.disrupted_pods.emplace_back(pod.key());
                break;
            default:
                break;
        }
    }
    std::sort(budget.disrupted_pods.begin(), budget.disrupted_pods.end());
}

}  // namespace

void decode_budget(ObjectSource& from, Object& out) {
    DisruptionBudget& budget = out.emplace<DisruptionBudget>();
    budget.ns = from.ns;
    budget.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        switch (f.id()) {
            case "spec"_key:
                decode_spec(*f, budget);
                break;
            case "status"_key:
                decode_status(*f, budget);
                break;
            default:
                break;
        }
    }
}

}  // namespace reprieve
