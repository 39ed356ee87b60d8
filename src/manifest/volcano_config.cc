#include "manifest/volcano_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "manifest/action_args.h"
#include "manifest/suggest.h"

namespace reprieve {
namespace {

constexpr std::string_view kDefaultActions = "enqueue, allocate, backfill";

struct ActionMapping {
    std::string_view name;
    std::vector<ActionKind> kinds;
};

// Volcano's preempt serves single pods and gangs alike; ours are two actions.
const std::vector<ActionMapping>& action_mappings() {
    static const std::vector<ActionMapping> kMappings = {
        {"enqueue", {}},  // every pending group is in the queue here
        {"allocate", {ActionKind::kAllocate}},
        {"backfill", {ActionKind::kBackfill}},
        {"preempt", {ActionKind::kPreempt, ActionKind::kGangPreempt}},
        {"reclaim", {ActionKind::kGangReclaim}},
        {"gangpreempt", {ActionKind::kGangPreempt}},
        {"gangreclaim", {ActionKind::kGangReclaim}},
    };
    return kMappings;
}

constexpr std::array<std::string_view, 3> kActionsWithoutCounterpart{"shuffle", "elect", "reserve"};

// Supported by meaning: their work is done here, by a plugin of the same or another name.
constexpr std::array<std::string_view, 12> kSupportedPlugins{"priority",
                                                             "gang",
                                                             "conformance",
                                                             "predicates",
                                                             "proportion",
                                                             "capacity",
                                                             "nodeorder",
                                                             "binpack",
                                                             "network-topology-aware",
                                                             "overcommit",
                                                             "pdb",
                                                             "deviceshare"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kScoreArguments{{
    {"nodeaffinity.weight", "NodeAffinity"},
    {"podaffinity.weight", "InterPodAffinity"},
    {"leastrequested.weight", "NodeResourcesFit"},
    {"balancedresource.weight", "NodeResourcesBalancedAllocation"},
    {"tainttoleration.weight", "TaintToleration"},
    {"imagelocality.weight", "ImageLocality"},
    {"podtopologyspread.weight", "PodTopologySpread"},
}};

template <class Range, class T>
bool contains(const Range& range, const T& value) {
    return std::find(range.begin(), range.end(), value) != range.end();
}

const ActionMapping* find_mapping(std::string_view name) {
    const auto& mappings = action_mappings();
    if (const auto gang = gang_action_named(name))
        name = *gang == ActionKind::kGangPreempt ? "gangpreempt" : "gangreclaim";
    const auto found = std::find_if(
        mappings.begin(), mappings.end(), [&](const ActionMapping& mapping) { return mapping.name == name; });
    return found == mappings.end() ? nullptr : &*found;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t from = text.find_first_not_of(kSpace);
    return from == std::string_view::npos ? std::string_view()
                                          : text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

std::vector<std::string_view> known_actions() {
    std::vector<std::string_view> names;
    for (const ActionMapping& mapping : action_mappings())
        names.push_back(mapping.name);
    names.insert(names.end(), kActionsWithoutCounterpart.begin(), kActionsWithoutCounterpart.end());
    return names;
}

void add_action(SchedulerConfig& config, ActionKind kind) {
    std::vector<ActionConfig>& actions = *config.actions;
    const bool there =
        std::any_of(actions.begin(), actions.end(), [&](const ActionConfig& action) { return action.kind == kind; });
    if (!there) actions.emplace_back().kind = kind;
}

void read_actions(ConfigReader& in, const ConfigField& at, std::string_view list, SchedulerConfig& config) {
    config.actions.emplace();
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view name = trimmed(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
        if (const ActionMapping* mapping = find_mapping(name)) {
            for (const ActionKind kind : mapping->kinds)
                add_action(config, kind);
        } else if (contains(kActionsWithoutCounterpart, name)) {
            config.warnings.push_back(
                fmt::format("action {} of Volcano has no counterpart and is left out", shown(name)));
        } else {
            in.complain(at, fmt::format("unknown action {}{}", shown(name), suggestion(name, known_actions())));
        }
    }
}

void read_node_order(ConfigReader& in,
                     const std::vector<ConfigField>& arguments,
                     SchedulerConfig& config,
                     std::vector<std::string>& unused) {
    for (const ConfigField& argument : arguments) {
        const auto* found = std::find_if(kScoreArguments.begin(), kScoreArguments.end(), [&](const auto& pair) {
            return pair.first == argument.name;
        });
        if (found == kScoreArguments.end()) {
            unused.push_back(argument.name);
        } else {
            config.plugins.score_weights[std::string(found->second)] = in.integer(argument, 0, 1'000'000);
        }
    }
}

void read_arguments(ConfigReader& in, const std::string& plugin, const ConfigField& at, SchedulerConfig& config) {
    const std::vector<ConfigField> arguments = in.entries(at);
    std::vector<std::string> unused;
    if (plugin == "nodeorder") {
        read_node_order(in, arguments, config, unused);
    } else {
        for (const ConfigField& argument : arguments)
            unused.push_back(argument.name);
    }
    if (!unused.empty()) {
        config.warnings.push_back(
            fmt::format("plugin {} of Volcano: not used: {}", shown(plugin), fmt::join(unused, ", ")));
    }
}

void read_switch(ConfigReader& in, const std::string& plugin, const ConfigField& at, SchedulerConfig& config) {
    const bool on = in.boolean(at);
    if (on) return;
    if (plugin == "priority" && at.name == "enablePreemptable") {
        config.plugins.disable.emplace_back("priority");
        return;
    }
    // With Volcano this switch is what lets whole gangs be victims; here they always may.
    if (at.name == "enablePreemptable" && (plugin == "gang" || plugin == "drf")) return;
    config.warnings.push_back(
        fmt::format("plugin {} of Volcano: {}: false has no counterpart", shown(plugin), at.name));
}

void read_plugin(ConfigReader& in, const ConfigField& at, SchedulerConfig& config, std::set<std::string>& seen) {
    static constexpr std::array<std::string_view, 2> kKnown{"name", "arguments"};
    const std::vector<ConfigField> fields = in.entries(at);
    const auto name =
        std::find_if(fields.begin(), fields.end(), [](const ConfigField& field) { return field.name == "name"; });
    if (name == fields.end()) {
        in.complain(at, "a plugin needs a name");
        return;
    }
    const std::string plugin = in.text(*name);
    const bool supported = contains(kSupportedPlugins, plugin);
    const bool first = seen.insert(plugin).second;
    if (!supported && first) {
        const std::string_view near = nearest_name(plugin, kSupportedPlugins);
        config.warnings.push_back(fmt::format("plugin {} of Volcano is not supported and is left out{}",
                                              shown(plugin),
                                              near.empty() ? std::string() : fmt::format(" (did you mean {}?)", near)));
    }
    for (const ConfigField& field : fields) {
        if (field.name == "name") continue;
        if (field.name == "arguments") {
            if (supported) read_arguments(in, plugin, field, config);
        } else if (field.name.starts_with("enable")) {
            if (supported || plugin == "drf") read_switch(in, plugin, field, config);
        } else {
            in.complain_unknown(field, kKnown);
        }
    }
}

void read_tiers(ConfigReader& in, const ConfigField& at, SchedulerConfig& config) {
    static constexpr std::array<std::string_view, 1> kKnown{"plugins"};
    std::set<std::string> seen;
    for (const ConfigField& tier : in.items(at)) {
        for (const ConfigField& field : in.entries(tier)) {
            if (field.name != "plugins") {
                in.complain_unknown(field, kKnown);
                continue;
            }
            for (const ConfigField& plugin : in.items(field))
                read_plugin(in, plugin, config, seen);
        }
    }
    // Volcano's pdb plugin refuses every victim whose budget is spent.
    if (!seen.contains("pdb")) return;
    for (ActionConfig& action : *config.actions) {
        if (takes_arg(action.kind, "pdb")) action.pdb = PdbMode::kStrict;
    }
}

void read_configuration(ConfigReader& in, const ConfigField& at, SchedulerConfig& config) {
    static constexpr std::array<std::string_view, 2> kKnown{"name", "arguments"};
    std::string name;
    ConfigField arguments;
    for (const ConfigField& field : in.entries(at)) {
        if (field.name == "name") {
            name = in.text(field);
        } else if (field.name == "arguments") {
            arguments = field;
        } else {
            in.complain_unknown(field, kKnown);
        }
    }
    const ActionMapping* mapping = find_mapping(name);
    std::vector<std::string> unused;
    for (const ConfigField& argument : in.entries(arguments)) {
        bool used = false;
        for (ActionConfig& action : *config.actions) {
            if (mapping == nullptr || !contains(mapping->kinds, action.kind) || !takes_arg(action.kind, argument.name))
                continue;
            decode_action_arg(in, argument, action);
            used = true;
        }
        if (!used) unused.push_back(argument.name);
    }
    if (!unused.empty())
        config.warnings.push_back(
            fmt::format("configuration {} of Volcano: not used: {}", shown(name), fmt::join(unused, ", ")));
}

}  // namespace

bool is_volcano_config(const std::vector<ConfigField>& fields) {
    const auto named = [&](std::string_view name) {
        return std::find_if(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == name; });
    };
    // Volcano's file has neither: who writes one means our format, whatever else is wrong with it.
    if (named("apiVersion") != fields.end() || named("kind") != fields.end()) return false;
    const auto actions = named("actions");
    return actions != fields.end() ? actions->value.IsScalar() : named("tiers") != fields.end();
}

SchedulerConfig read_volcano_config(ConfigReader& in, const std::vector<ConfigField>& fields) {
    static constexpr std::array<std::string_view, 4> kKnown{"actions", "tiers", "configurations", "metrics"};
    SchedulerConfig config;
    const auto field_named = [&](std::string_view name) {
        return std::find_if(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == name; });
    };
    // The other keys speak of these actions, wherever they stand.
    const auto actions = field_named("actions");
    const std::string list = actions == fields.end() ? std::string(kDefaultActions) : in.text(*actions);
    read_actions(in, actions == fields.end() ? ConfigField{} : *actions, list, config);
    for (const ConfigField& field : fields) {
        if (field.name == "tiers") {
            read_tiers(in, field, config);
        } else if (field.name == "configurations") {
            for (const ConfigField& item : in.items(field))
                read_configuration(in, item, config);
        } else if (field.name == "metrics") {
            config.warnings.emplace_back("metrics of Volcano's configuration are left out");
        } else if (field.name != "actions") {
            in.complain_unknown(field, kKnown);
        }
    }
    return config;
}

}  // namespace reprieve
