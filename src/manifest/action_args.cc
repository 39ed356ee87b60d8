#include "manifest/action_args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "manifest/config_words.h"
#include "manifest/suggest.h"

namespace reprieve {
namespace {

constexpr std::int32_t kLargestInt32 = std::numeric_limits<std::int32_t>::max();

template <class... Kinds>
constexpr unsigned takers(Kinds... kinds) {
    return (0U | ... | (1U << static_cast<unsigned>(kinds)));
}

constexpr unsigned kPreempt = takers(ActionKind::kPreempt);
constexpr unsigned kGangPreempt = takers(ActionKind::kGangPreempt);
constexpr unsigned kGangReclaim = takers(ActionKind::kGangReclaim);
constexpr unsigned kJobPreempt = takers(ActionKind::kJobPreempt);
constexpr unsigned kRevoke = takers(ActionKind::kRevoke);
constexpr unsigned kServingPreempt = takers(ActionKind::kServingPreempt);
constexpr unsigned kQueueBalance = takers(ActionKind::kQueueBalance);
constexpr unsigned kEvicting =
    kPreempt | kGangPreempt | kGangReclaim | kJobPreempt | kRevoke | kServingPreempt | kQueueBalance;

std::vector<CostTerm> read_cost(ConfigReader& in, const ConfigField& at) {
    std::vector<CostTerm> terms;
    for (const ConfigField& item : in.items(at)) {
        const auto term = static_cast<CostTerm>(in.index_of(item, "cost term", kCostTerms));
        if (std::find(terms.begin(), terms.end(), term) != terms.end())
            in.complain(item, fmt::format("{} is listed twice", to_text(term)));
        terms.push_back(term);
    }
    if (terms.empty()) in.complain(at, "must list at least one cost term");
    return terms;
}

std::int32_t read_int32(ConfigReader& in, const ConfigField& at, std::int32_t smallest, std::int32_t largest) {
    return static_cast<std::int32_t>(in.integer(at, smallest, largest));
}

struct Arg {
    std::string_view name;
    unsigned takers;
    void (*read)(ConfigReader& in, const ConfigField& at, ActionConfig& out);
};

using In = ConfigReader;
using At = ConfigField;
using Out = ActionConfig;

constexpr std::array kArgs = std::to_array<Arg>({
    {"improve", kEvicting, [](In& in, const At& at, Out& out) { out.improve = in.boolean(at); }},
    {"pdb",
     kEvicting,
     [](In& in, const At& at, Out& out) { out.pdb = static_cast<PdbMode>(in.index_of(at, "pdb mode", kPdbModes)); }},
    {"mode",
     kEvicting,
     [](In& in, const At& at, Out& out) { out.mode = static_cast<EvictMode>(in.index_of(at, "mode", kEvictModes)); }},
    {"cost", kEvicting, [](In& in, const At& at, Out& out) { out.cost = read_cost(in, at); }},
    {"crossQueue", kPreempt | kGangPreempt, [](In& in, const At& at, Out& out) { out.cross_queue = in.boolean(at); }},
    {"minCandidateNodesPercentage",
     kPreempt,
     [](In& in, const At& at, Out& out) { out.min_candidate_nodes_percentage = read_int32(in, at, 0, 100); }},
    {"minCandidateNodesAbsolute",
     kPreempt,
     [](In& in, const At& at, Out& out) { out.min_candidate_nodes_absolute = read_int32(in, at, 0, kLargestInt32); }},
    {"maxDomains",
     kGangPreempt | kGangReclaim,
     [](In& in, const At& at, Out& out) { out.max_domains = read_int32(in, at, 1, kLargestInt32); }},
    {"disruption",
     kGangPreempt | kGangReclaim,
     [](In& in, const At& at, Out& out) {
         out.disruption = static_cast<Disruption>(in.index_of(at, "disruption", kDisruptions));
     }},
    {"roiThreshold",
     kGangPreempt | kGangReclaim,
     [](In& in, const At& at, Out& out) {
         out.roi_threshold_ppm = in.millionths(at);
         out.roi_threshold_written = true;
     }},
    {"wholeBelowDeserved",
     kGangReclaim,
     [](In& in, const At& at, Out& out) { out.whole_below_deserved = in.boolean(at); }},
    {"allowWholeBundle",
     kGangPreempt | kGangReclaim,
     [](In& in, const At& at, Out& out) { out.allow_whole_bundle = in.boolean(at); }},
    {"surplusPreempts", kGangPreempt, [](In& in, const At& at, Out& out) { out.surplus_preempts = in.boolean(at); }},
    {"disableDefaultPreemptible",
     kJobPreempt | kRevoke,
     [](In& in, const At& at, Out& out) { out.disable_default_preemptible = in.boolean(at); }},
    // Koordinator's own spelling.
    {"disableDefaultPreemptiable",
     kJobPreempt | kRevoke,
     [](In& in, const At& at, Out& out) { out.disable_default_preemptible = in.boolean(at); }},
    {"disableDefaultTriggerPreemption",
     kJobPreempt,
     [](In& in, const At& at, Out& out) { out.disable_default_trigger_preemption = in.boolean(at); }},
    {"reserveForPendingNonPreemptible",
     kJobPreempt,
     [](In& in, const At& at, Out& out) { out.reserve_for_pending_non_preemptible = in.boolean(at); }},
    {"podShouldBeDeletedWhenPreempted",
     kJobPreempt,
     [](In& in, const At& at, Out& out) { out.delete_when_preempted = in.boolean(at); }},
    {"softEvictionDeadline",
     kJobPreempt,
     [](In& in, const At& at, Out& out) { out.soft_eviction_deadline = in.duration(at); }},
    {"delayEvictTime", kRevoke, [](In& in, const At& at, Out& out) { out.delay_evict_time = in.duration(at); }},
    {"forceDeleteTimeout",
     kServingPreempt,
     [](In& in, const At& at, Out& out) { out.force_delete_timeout = in.duration(at); }},
    {"claimTimeout", kServingPreempt, [](In& in, const At& at, Out& out) { out.claim_timeout = in.duration(at); }},
    {"minTerminating", kServingPreempt, [](In& in, const At& at, Out& out) { out.min_terminating = in.duration(at); }},
    {"resourceQuota", kQueueBalance, [](In& in, const At& at, Out& out) { out.resource_quota = in.boolean(at); }},
    {"request",
     kQueueBalance,
     [](In& in, const At& at, Out& out) { out.request_by_pods = in.index_of(at, "request", kRequests) == 1; }},
});

bool takes(const Arg& arg, ActionKind kind) { return (arg.takers & takers(kind)) != 0; }

const Arg* find_arg(std::string_view name) {
    const auto* found = std::find_if(kArgs.begin(), kArgs.end(), [&](const Arg& arg) { return arg.name == name; });
    return found == kArgs.end() ? nullptr : found;
}

void complain_foreign(ConfigReader& in, const ConfigField& at, ActionKind kind, const Arg* arg) {
    if (arg != nullptr) {
        std::vector<std::string_view> owners;
        for (std::size_t i = 0; i < kActionNames.size(); ++i) {
            if (takes(*arg, static_cast<ActionKind>(i))) owners.push_back(kActionNames[i]);
        }
        in.complain(at,
                    fmt::format("{} takes no {} (it belongs to {})", to_text(kind), at.name, fmt::join(owners, ", ")));
        return;
    }
    std::vector<std::string_view> known;
    for (const Arg& candidate : kArgs) {
        if (takes(candidate, kind)) known.push_back(candidate.name);
    }
    const std::string hint = known.empty() ? std::string(" (it takes none)") : suggestion(at.name, known);
    in.complain(at, fmt::format("unknown argument of {}{}", to_text(kind), hint));
}

const ConfigField* find_field(const std::vector<ConfigField>& fields, std::string_view name) {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

void check_spellings(ConfigReader& in, const std::vector<ConfigField>& fields) {
    const ConfigField* one = find_field(fields, "disableDefaultPreemptible");
    const ConfigField* other = find_field(fields, "disableDefaultPreemptiable");
    if (one != nullptr && other != nullptr)
        in.complain(*other, "is another spelling of disableDefaultPreemptible: write one of them");
}

void check_together(ConfigReader& in, const std::vector<ConfigField>& fields, ActionConfig& action) {
    check_spellings(in, fields);
    if (action.min_candidate_nodes_percentage == 0 && action.min_candidate_nodes_absolute == 0) {
        in.complain(*find_field(fields, "minCandidateNodesAbsolute"),
                    "minCandidateNodesPercentage and minCandidateNodesAbsolute must not both be 0");
    }
}

}  // namespace

std::span<const std::string_view> action_names() { return kActionNames; }

ActionKind read_action_name(ConfigReader& in, const ConfigField& at) {
    const std::optional<ActionKind> gang = gang_action_named(in.text(at));
    return gang ? *gang : static_cast<ActionKind>(in.index_of(at, "action", kActionNames));
}

// The seed writes gang-preempt, Volcano gangpreempt.
std::optional<ActionKind> gang_action_named(std::string_view name) {
    if (name == "gang-preempt" || name == "gangpreempt" || name == "gangPreempt") return ActionKind::kGangPreempt;
    if (name == "gang-reclaim" || name == "gangreclaim" || name == "gangReclaim") return ActionKind::kGangReclaim;
    return std::nullopt;
}

namespace {

// What may stand under plugins.args.quota and under an action.
bool read_quota_arg(ConfigReader& in, const ConfigField& field, QuotaArgs& out) {
    if (field.name == "disableDefaultPreemptible" || field.name == "disableDefaultPreemptiable")
        out.disable_default_preemptible = in.boolean(field);
    else if (field.name == "disableDefaultTriggerPreemption")
        out.disable_default_trigger_preemption = in.boolean(field);
    else if (field.name == "reserveForPendingNonPreemptible")
        out.reserve_for_pending_non_preemptible = in.boolean(field);
    else if (field.name == "podShouldBeDeletedWhenPreempted")
        out.delete_when_preempted = in.boolean(field);
    else if (field.name == "softEvictionDeadline")
        out.soft_eviction_deadline = in.duration(field);
    else
        return false;
    return true;
}

}  // namespace

void decode_quota_args(ConfigReader& in, const ConfigField& args, QuotaArgs& out) {
    static constexpr std::array<std::string_view, 7> kKnown{"limit",
                                                            "disableDefaultPreemptible",
                                                            "disableDefaultPreemptiable",
                                                            "disableDefaultTriggerPreemption",
                                                            "reserveForPendingNonPreemptible",
                                                            "podShouldBeDeletedWhenPreempted",
                                                            "softEvictionDeadline"};
    const std::vector<ConfigField> fields = in.entries(args);
    for (const ConfigField& field : fields) {
        if (field.name == "limit")
            out.limit = static_cast<QuotaLimit>(in.index_of(field, "limit", kQuotaLimits));
        else if (!read_quota_arg(in, field, out))
            in.complain_unknown(field, kKnown);
    }
    check_spellings(in, fields);
}

QuotaArgs quota_args_of_action(ConfigReader& in, const ConfigField& action) {
    QuotaArgs out;
    for (const ConfigField& part : in.entries(action)) {
        if (part.name != "args") continue;
        for (const ConfigField& field : in.entries(part))
            static_cast<void>(read_quota_arg(in, field, out));
    }
    return out;
}

std::vector<std::string_view> action_arg_names() {
    std::vector<std::string_view> names;
    for (const Arg& arg : kArgs)
        names.push_back(arg.name);
    return names;
}

bool takes_arg(ActionKind kind, std::string_view name) {
    const Arg* arg = find_arg(name);
    return arg != nullptr && takes(*arg, kind);
}

void decode_action_arg(ConfigReader& in, const ConfigField& at, ActionConfig& action) {
    const Arg* arg = find_arg(at.name);
    if (arg != nullptr && takes(*arg, action.kind)) {
        arg->read(in, at, action);
    } else {
        complain_foreign(in, at, action.kind, arg);
    }
}

void decode_action_args(ConfigReader& in, const ConfigField& args, ActionConfig& action) {
    const std::vector<ConfigField> fields = in.entries(args);
    for (const ConfigField& field : fields)
        decode_action_arg(in, field, action);
    check_together(in, fields, action);
}

}  // namespace reprieve
