// PodGroups of all dialects, and CompositePodGroup.
#include <fmt/format.h>

#include <algorithm>

#include "manifest/decode_selector.h"
#include "manifest/object_source.h"
#include "manifest/preemption_policies.h"

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, DisruptionMode> kModeNames[] = {{"Pod", DisruptionMode::kSingle},
                                                                      {"PodGroup", DisruptionMode::kAll}};
constexpr std::pair<std::string_view, bool> kTopologyModes[] = {{"", true}, {"hard", true}, {"soft", false}};

// What PodGroup and CompositePodGroup of scheduling.k8s.io have in common.
struct CoreSpec {
    std::int32_t minimum = 0;  // 0: basic
    DisruptionMode disruption = DisruptionMode::kSingle;
    StringId parent;
    StringId priority_class;
    std::optional<std::int32_t> priority;
    std::optional<PreemptionPolicy> preemption_policy;
    std::optional<TopologyRule> topology;
};

// Exactly one of basic{} and gang{minCount | minGroupCount}.
void decode_scheduling_policy(Cursor& at, KeyId count_key, CoreSpec& out) {
    bool basic = false;
    bool gang = false;
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "basic"_key) basic = true;
        if (f.id() != "gang"_key) continue;
        gang = true;
        for (Fields field(*f); field.next();) {
            if (field.id() == count_key) field->read(out.minimum, 1);
        }
        if (out.minimum == 0) f->wrong(count_key == "minCount"_key ? "minCount" : "minGroupCount", "is missing");
    }
    if (basic && gang) at.wrong("has both basic and gang; one is allowed");
    if (!basic && !gang) at.wrong("has neither basic nor gang");
}

// {single: {}} or {all: {}}; v1alpha2 wrote the words Pod and PodGroup.
void decode_disruption(Cursor& at, DisruptionMode& out) {
    if (at.is_string()) return at.choose(out, kModeNames);
    bool single = false;
    bool all = false;
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        if (f.id() == "single"_key) single = true;
        if (f.id() == "all"_key) all = true;
    }
    if (single && all) return at.wrong("has both single and all; one is allowed");
    out = all ? DisruptionMode::kAll : DisruptionMode::kSingle;
}

void decode_constraints(Cursor& at, std::optional<TopologyRule>& out) {
    for (Fields f(at); f.next();) {
        if (f.id() != "topology"_key) continue;
        for (Items item(*f); item.next();) {
            if (item.index() > 0) return item->wrong("only one topology constraint is allowed");
            TopologyRule& rule = out.emplace();
            for (Fields field(*item); field.next();) {
                if (field.id() == "key"_key) field->read(rule.label_key);
            }
            if (!rule.label_key) item->wrong("key", "is missing");
        }
    }
}

void decode_core_spec(Cursor& at, KeyId count_key, CoreSpec& out) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "schedulingPolicy"_key:
                decode_scheduling_policy(*f, count_key, out);
                break;
            case "disruptionMode"_key:
                decode_disruption(*f, out.disruption);
                break;
            case "schedulingConstraints"_key:
                decode_constraints(*f, out.topology);
                break;
            case "parentCompositePodGroupName"_key:
                f->read(out.parent);
                break;
            case "priorityClassName"_key:
                f->read(out.priority_class);
                break;
            case "priority"_key:
                f->read(out.priority);
                break;
            case "preemptionPolicy"_key:
                f->choose(out.preemption_policy, kPreemptionPolicies);
                break;
            default:
                break;
        }
    }
}

void decode_topology(Cursor& at, std::optional<TopologyRule>& out) {
    if (at.is_null()) return;
    TopologyRule& rule = out.emplace();
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "mode"_key:
                f->choose(rule.hard, kTopologyModes);
                break;
            case "highestTierAllowed"_key:
                if (f->is_null()) break;
                f->read(rule.highest_tier.emplace(), 0);
                break;
            case "highestTierName"_key:
                f->read(rule.highest_tier_name);
                break;
            default:
                break;
        }
    }
    if (rule.highest_tier && rule.highest_tier_name)
        at.wrong("has both highestTierAllowed and highestTierName; one is allowed");
}

void decode_sub_group(Cursor& at, SubGroupPolicy& out) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(out.name);
                break;
            case "labelSelector"_key:
                decode_selector(*f, out.selector);
                break;
            case "matchLabelKeys"_key:
                f->read(out.match_label_keys);
                break;
            case "subGroupSize"_key:
                f->read(out.size, 0);
                break;
            case "minSubGroups"_key:
                f->read(out.min_sub_groups, 0);
                break;
            case "networkTopology"_key:
                decode_topology(*f, out.topology);
                break;
            default:
                break;
        }
    }
}

void decode_roles(Cursor& at, Gang& gang) {
    for (Fields f(at); f.next();) {
        std::int32_t minimum = 0;
        f->read(minimum, 0);
        gang.role_minimums.emplace_back(at.words().string(f.key()), minimum);
    }
    std::sort(gang.role_minimums.begin(), gang.role_minimums.end());
}

// The fields of Volcano's PodGroup; the plain dialects have the first ones.
void decode_group_spec(Cursor& at, Gang& gang) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "minMember"_key:
                f->read(gang.min_members, 0);
                break;
            case "minResources"_key:
                f->read(gang.min_resources);
                break;
            case "queue"_key:
                f->read(gang.queue);
                break;
            case "priorityClassName"_key:
                f->read(gang.priority_class);
                break;
            case "minTaskMember"_key:
                decode_roles(*f, gang);
                break;
            case "networkTopology"_key:
                decode_topology(*f, gang.topology);
                break;
            case "subGroupPolicy"_key:
                for (Items item(*f); item.next();)
                    decode_sub_group(*item, gang.sub_groups.emplace_back());
                break;
            default:
                break;
        }
    }
}

// A JSON list of "ns/name"; a bare name is one of the own namespace.
void read_peers(ObjectSource& from, const Note& note, Gang& gang) {
    const std::string own = fmt::format("{}/{}", from.words().text(from.ns), from.metadata.name);
    note.read_json(from.reading, [&](Cursor& at) {
        for (Items item(at); item.next();) {
            std::string_view peer;
            item->read(peer);
            if (peer.empty()) return item->wrong("is empty");
            const bool bare = peer.find('/') == std::string_view::npos;
            const std::string full = bare ? fmt::format("{}/{}", from.words().text(from.ns), peer) : std::string(peer);
            if (full != own) gang.peers.push_back(from.words().string(full));
        }
    });
    sort_unique(gang.peers);
}

void read_gang_notes(ObjectSource& from, Gang& gang) {
    Reading& reading = from.reading;
    for (const Note& note : from.metadata.notes) {
        read_setting(reading, note, gang.settings);
        switch (note.id()) {
            case "reprieve.dev/plan"_key:
                read_plan_note(reading, note, gang.plan);
                break;
            case "gang.scheduling.koordinator.sh/groups"_key:
                read_peers(from, note, gang);
                break;
            case "gang.scheduling.koordinator.sh/mode"_key:
                if (note.text(reading) == "NonStrict") reading.warn("gang mode NonStrict is ignored: gangs are strict");
                break;
            case "gang.scheduling.koordinator.sh/match-policy"_key:
            case "pod-group.scheduling.sigs.k8s.io/match-policy"_key:
                reading.warn("gang match-policy is ignored");
                break;
            case "scheduling.volcano.sh/queue-name"_key:
                if (!gang.queue) note.read(reading, gang.queue);
                break;
            default:
                break;
        }
    }
}

Gang& start_gang(ObjectSource& from, GangDialect dialect, Object& out) {
    Gang& gang = out.emplace<Gang>();
    gang.ns = from.ns;
    gang.name = from.name;
    gang.uid = from.metadata.uid;
    gang.dialect = dialect;
    gang.created = from.metadata.created;
    return gang;
}

void decode_group(ObjectSource& from, GangDialect dialect, Object& out) {
    Gang& gang = start_gang(from, dialect, out);
    for (Fields& f = from.fields; f.next();) {
        if (f.id() == "spec"_key) decode_group_spec(*f, gang);
    }
    read_gang_notes(from, gang);
}

}  // namespace

void decode_core_group(ObjectSource& from, Object& out) {
    Gang& gang = start_gang(from, GangDialect::kCore, out);
    CoreSpec spec;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() == "spec"_key) decode_core_spec(*f, "minCount"_key, spec);
    }
    gang.min_members = spec.minimum;
    gang.disruption = spec.disruption;
    gang.parent = spec.parent;
    gang.priority_class = spec.priority_class;
    gang.priority = spec.priority;
    gang.preemption_policy = spec.preemption_policy;
    gang.topology = spec.topology;
    read_gang_notes(from, gang);
}

void decode_composite_group(ObjectSource& from, Object& out) {
    CompositeGroup& group = out.emplace<CompositeGroup>();
    group.ns = from.ns;
    group.name = from.name;
    CoreSpec spec;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() == "spec"_key) decode_core_spec(*f, "minGroupCount"_key, spec);
    }
    group.parent = spec.parent;
    group.min_groups = spec.minimum;
    group.disruption = spec.disruption;
    group.priority_class = spec.priority_class;
    group.priority = spec.priority;
    group.preemption_policy = spec.preemption_policy;
    group.topology = spec.topology;
}

void decode_volcano_group(ObjectSource& from, Object& out) { decode_group(from, GangDialect::kVolcano, out); }

void decode_plain_group(ObjectSource& from, Object& out) {
    const bool koordinator = from.group == "scheduling.sigs.k8s.io";
    decode_group(from, koordinator ? GangDialect::kKoordinator : GangDialect::kSchedulerPlugins, out);
}

}  // namespace reprieve
