#include "app/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "app/inputs.h"
#include "explain/subject.h"
#include "manifest/plan_json.h"

namespace reprieve {
namespace {

// A log has a whole plan on every line; a single plan is spread over several, or stands alone.
bool is_log(std::string_view text) {
    const std::size_t end = text.find('\n');
    const std::string_view first = text.substr(0, end);
    return first.starts_with('{') && first.ends_with('}');
}

// Whether the plan evicts the subject, or others for it. Later plans only carry that out.
bool decides(const Plan& plan, const Subject& subject) {
    const auto is_subject = [&](const std::string& name) {
        return !name.empty() && (name == subject.name || std::ranges::find(subject.pods, name) != subject.pods.end());
    };
    std::set<std::string> owners{subject.name};
    for (const Placement& p : plan.placements) {
        if (is_subject(p.pod) && !p.owner.empty()) owners.insert(p.owner);
    }
    return std::ranges::any_of(plan.evictions, [&](const Eviction& e) {
        return is_subject(e.pod) || is_subject(e.group) || is_subject(e.owner) || owners.contains(e.owner);
    });
}

}  // namespace

Result<Plan> read_plan_file(const std::string& file, const std::string& name) {
    const auto text = read_file(file);
    if (!text) return std::unexpected(text.error());
    if (!is_log(*text)) {
        auto plan = plan_from_json(*text);
        if (!plan) return fail(fmt::format("{}: {}", file, plan.error().message));
        return plan;
    }
    std::optional<Plan> last;
    std::optional<Plan> speaking;
    std::optional<Plan> deciding;
    std::string_view rest = *text;
    for (int line = 1; !rest.empty(); ++line) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (one.empty()) continue;
        auto plan = plan_from_json(one);
        if (!plan) return fail(fmt::format("{}:{}: {}", file, line, plan.error().message));
        if (const auto subject = find_subject(*plan, nullptr, name, false)) {
            speaking = *plan;
            if (decides(*plan, *subject)) deciding = *plan;
        }
        last = std::move(*plan);
    }
    if (!last) return fail(fmt::format("{}: holds no plan", file));
    if (deciding) return std::move(*deciding);
    return speaking ? std::move(*speaking) : std::move(*last);
}

}  // namespace reprieve
