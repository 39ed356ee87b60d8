#include "manifest/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "manifest/action_args.h"
#include "manifest/config_keys.h"
#include "manifest/config_reader.h"
#include "manifest/config_words.h"
#include "manifest/volcano_config.h"

namespace reprieve {
namespace {

using Names = std::span<const std::string_view>;

// Rules that hold whether or not they are listed in `plugins.disable`.
constexpr std::array<std::string_view, 8> kAlwaysOn{
    "SchedulingGates", "proportion", "capacity", "quota", "gang", "networkTopology", "pdb", "resources"};

constexpr std::int64_t kLargestWeight = 1'000'000;
constexpr std::int64_t kMostThreads = 1024;
constexpr Duration kLongestBudget{std::int64_t{3600} * 1'000'000};

void expect_word(ConfigReader& in, const ConfigField& at, std::string_view word) {
    const std::string written = in.text(at);
    if (written != word) in.complain(at, fmt::format("must be {}, is {}", word, shown(written)));
}

std::string read_word(ConfigReader& in, const ConfigField& at) {
    std::string word = in.text(at);
    if (word.empty()) in.complain(at, "must not be empty");
    return word;
}

// The value of the only key that `at` may have, or null.
const ConfigField* only_entry(ConfigReader& in, const std::vector<ConfigField>& fields, std::string_view name) {
    const ConfigField* found = nullptr;
    for (const ConfigField& field : fields) {
        if (field.name == name) {
            found = &field;
        } else {
            complain_unknown_key(in, field);
        }
    }
    return found;
}

std::vector<std::string> read_plugin_names(ConfigReader& in,
                                           const ConfigField& at,
                                           std::string_view what,
                                           Names known) {
    for (const ConfigField& item : in.items(at))
        in.index_of(item, what, known);
    return in.texts(at);
}

void read_score_weights(ConfigReader& in, const ConfigField& at, PluginsConfig& out) {
    for (const ConfigField& field : in.entries(at)) {
        if (!is_config_key(field)) {
            complain_unknown_key(in, field);
        } else {
            out.score_weights[field.name] = in.integer(field, 0, kLargestWeight);
        }
    }
}

void read_plugin_args(ConfigReader& in, const ConfigField& at, PluginsConfig& out) {
    for (const ConfigField& plugin : in.entries(at)) {
        if (plugin.name == "scoreWeights") {
            read_score_weights(in, plugin, out);
            continue;
        }
        if (!is_config_key(plugin)) {
            complain_unknown_key(in, plugin);
            continue;
        }
        if (plugin.name == "quota") {
            decode_quota_args(in, plugin, out.quota);
            continue;
        }
        const std::vector<ConfigField> fields = in.entries(plugin);
        if (plugin.name == "lostWork") {
            if (const ConfigField* field = only_entry(in, fields, "resource"))
                out.lost_work_resource = read_word(in, *field);
        } else if (plugin.name == "protected") {
            if (const ConfigField* field = only_entry(in, fields, "kubeSystem"))
                out.kube_system_protected = in.boolean(*field);
        } else if (const ConfigField* field = only_entry(in, fields, "planeLabel")) {
            out.plane_label = read_word(in, *field);
        }
    }
}

void read_plugins(ConfigReader& in, const ConfigField& at, PluginsConfig& out) {
    for (const ConfigField& field : in.entries(at)) {
        if (field.name == "disable") {
            out.disable = read_plugin_names(in, field, "plugin", kPluginNames);
        } else if (field.name == "only") {
            if (!field.value.IsNull()) out.only = read_plugin_names(in, field, "filter", kFilterNames);
        } else if (field.name == "args") {
            read_plugin_args(in, field, out);
        } else {
            complain_unknown_key(in, field);
        }
    }
}

ActionConfig read_action(ConfigReader& in, const ConfigField& at) {
    ActionConfig action;
    const ConfigField* name = nullptr;
    const ConfigField* args = nullptr;
    const std::vector<ConfigField> fields = in.entries(at);
    for (const ConfigField& field : fields) {
        if (field.name == "name") {
            name = &field;
        } else if (field.name == "args") {
            args = &field;
        } else {
            complain_unknown_key(in, field);
        }
    }
    if (name == nullptr) {
        in.complain(at, "an action needs a name");
        return action;
    }
    action.kind = read_action_name(in, *name);
    if (args != nullptr && !in.failed()) decode_action_args(in, *args, action);
    return action;
}

std::vector<ActionConfig> read_actions(ConfigReader& in, const ConfigField& at) {
    std::vector<ActionConfig> actions;
    for (const ConfigField& item : in.items(at)) {
        ActionConfig action = read_action(in, item);
        const bool again = std::any_of(
            actions.begin(), actions.end(), [&](const ActionConfig& other) { return other.kind == action.kind; });
        if (again) in.complain(item, fmt::format("{} is listed twice", to_text(action.kind)));
        actions.push_back(std::move(action));
    }
    if (actions.empty()) in.complain(at, "must list at least one action");
    return actions;
}

void read_search(ConfigReader& in, const ConfigField& at, SchedulerConfig& out) {
    for (const ConfigField& field : in.entries(at)) {
        if (field.name == "cycleBudget") {
            out.cycle_budget = in.duration(field);
        } else if (field.name == "budget") {
            out.search_budget = in.duration(field);
            if (out.search_budget > kLongestBudget)
                in.complain(field, fmt::format("must be at most {}", format_duration(kLongestBudget)));
        } else if (field.name == "threads") {
            out.search_threads = static_cast<std::int32_t>(in.integer(field, 0, kMostThreads));
        } else {
            complain_unknown_key(in, field);
        }
    }
}

// podAnnotations: all | none | {namespaces: [...]}
void read_trust(ConfigReader& in, const ConfigField& at, Trust& out) {
    const std::vector<ConfigField> inner = in.entries(at);
    const ConfigField* who = only_entry(in, inner, "podAnnotations");
    if (who == nullptr) return;
    if (who->value.IsMap()) {
        const std::vector<ConfigField> listed = in.entries(*who);
        const ConfigField* namespaces = only_entry(in, listed, "namespaces");
        out.everybody = false;
        if (namespaces != nullptr) out.namespaces = in.texts(*namespaces);
        return;
    }
    out.everybody = in.index_of(*who, "trust", kTrusted) == 0;
}

// What quotas say holds for all actions; where it is said twice, it may be said differently.
void warn_of_the_contradictory(ConfigReader& in, const ConfigField& actions, SchedulerConfig& config) {
    const QuotaArgs& shared = config.plugins.quota;
    const std::vector<ConfigField> items = in.items(actions);
    for (std::size_t i = 0; config.actions && i < config.actions->size(); ++i) {
        const QuotaArgs own = quota_args_of_action(in, items[i]);
        const auto compare = [&](const char* name, const auto& here, const auto& there, const char* holds) {
            if (!here || !there || *here == *there) return;
            config.warnings.push_back(fmt::format("{} is written differently under plugins.args.quota and under {}: {}",
                                                  name,
                                                  to_text((*config.actions)[i].kind),
                                                  holds));
        };
        constexpr const char* kShared = "what stands under plugins.args.quota holds";
        compare("disableDefaultPreemptible",
                shared.disable_default_preemptible,
                own.disable_default_preemptible,
                "true holds");
        compare("disableDefaultTriggerPreemption",
                shared.disable_default_trigger_preemption,
                own.disable_default_trigger_preemption,
                "true holds");
        compare("reserveForPendingNonPreemptible",
                shared.reserve_for_pending_non_preemptible,
                own.reserve_for_pending_non_preemptible,
                "false holds");
        compare("podShouldBeDeletedWhenPreempted", shared.delete_when_preempted, own.delete_when_preempted, kShared);
        compare("softEvictionDeadline", shared.soft_eviction_deadline, own.soft_eviction_deadline, kShared);
    }
}

// What is asked for and understood, but without effect.
void warn_of_the_ineffective(SchedulerConfig& config) {
    for (const std::string& name : config.plugins.disable) {
        if (std::find(kAlwaysOn.begin(), kAlwaysOn.end(), name) != kAlwaysOn.end())
            config.warnings.push_back(
                fmt::format("plugins.disable: {} cannot be disabled in this version and stays on", name));
    }
    for (const ActionConfig& action : config.actions.value_or(std::vector<ActionConfig>())) {
        if (action.roi_threshold_written && action.improve)
            config.warnings.push_back(
                fmt::format("{}: roiThreshold has an effect only with improve: false", to_text(action.kind)));
        if (action.mode == EvictMode::kDelete && action.pdb == PdbMode::kStrict)
            config.warnings.push_back(
                fmt::format("{}: mode: delete has no effect with pdb: strict, which goes by the eviction API",
                            to_text(action.kind)));
    }
}

// Lost work is counted in one resource, which somebody must name.
void check_lost_work(ConfigReader& in, const ConfigField& actions, const SchedulerConfig& config) {
    if (!config.plugins.lost_work_resource.empty() || !config.actions) return;
    const std::vector<ConfigField> items = in.items(actions);
    for (std::size_t i = 0; i < config.actions->size(); ++i) {
        const auto& cost = (*config.actions)[i].cost;
        if (cost && std::find(cost->begin(), cost->end(), CostTerm::kLostWork) != cost->end())
            in.complain(items[i], "args.cost has lostWork, which needs plugins.args.lostWork.resource");
    }
}

SchedulerConfig read_own_format(ConfigReader& in, const std::vector<ConfigField>& fields) {
    SchedulerConfig config;
    for (const ConfigField& field : fields) {
        if (field.name == "apiVersion") {
            expect_word(in, field, "reprieve.dev/v1");
        } else if (field.name == "kind") {
            expect_word(in, field, "SchedulerConfig");
        } else if (field.name == "schedulerNames") {
            config.scheduler_names = in.texts(field);
        } else if (field.name == "actions") {
            if (!field.value.IsNull()) config.actions = read_actions(in, field);
        } else if (field.name == "plugins") {
            read_plugins(in, field, config.plugins);
        } else if (field.name == "topology") {
            const std::vector<ConfigField> inner = in.entries(field);
            if (const ConfigField* levels = only_entry(in, inner, "levels")) config.topology_levels = in.texts(*levels);
        } else if (field.name == "queues") {
            const std::vector<ConfigField> inner = in.entries(field);
            if (const ConfigField* fallback = only_entry(in, inner, "fallback"))
                config.queues_by_namespace = in.index_of(*fallback, "fallback", kQueueFallbacks) == 1;
        } else if (field.name == "search") {
            read_search(in, field, config);
        } else if (field.name == "trust") {
            read_trust(in, field, config.trust);
        } else {
            complain_unknown_key(in, field);
        }
    }
    for (const ConfigField& field : fields) {
        if (field.name != "actions" || field.value.IsNull() || in.failed()) continue;
        check_lost_work(in, field, config);
        warn_of_the_contradictory(in, field, config);
    }
    return config;
}

}  // namespace

Result<SchedulerConfig> parse_config(std::string_view text, std::string_view file_name) {
    ConfigReader in(file_name);
    const ConfigField root = in.parse(text);
    const std::vector<ConfigField> fields = in.entries(root);
    const bool volcano = is_volcano_config(fields);
    SchedulerConfig config = volcano ? read_volcano_config(in, fields) : read_own_format(in, fields);
    // A key that is read but stands in no reference is none.
    if (!volcano && !in.failed()) check_config_keys(in, root);
    if (in.failed()) return std::unexpected(in.error());
    warn_of_the_ineffective(config);
    return config;
}

}  // namespace reprieve
