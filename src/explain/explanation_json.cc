#include "explain/explanation_json.h"

#include "base/utf8.h"
#include "manifest/json_fields.h"

namespace reprieve {
namespace {

using Json = OrderedJson;

template <class Item, class Convert>
void put_list(Json& object, const char* key, const std::vector<Item>& items, Convert convert) {
    if (items.empty()) return;
    Json list = Json::array();
    for (const Item& item : items)
        list.push_back(convert(item));
    object[key] = std::move(list);
}

Json json_of(const Certificate& c) {
    Json out = Json::object();
    put(out, "action", c.action);
    out["status"] = to_text(c.status);
    put(out, "cost", c.cost);
    put(out, "bound", c.bound);
    put(out, "runnerUp", c.runner_up);
    put(out, "binding", c.binding);
    return out;
}

Json json_of(const Consequence& c) {
    Json out = Json::object();
    out["placed"] = c.placed;
    put(out, "whyNot", c.why_not);
    put(out, "cost", c.cost);
    put(out, "worseIn", c.worse_in);
    put(out, "cheaperIn", c.cheaper_in);
    put(out, "evicted", c.evicted);
    put(out, "spared", c.spared);
    put(out, "unplaced", c.unplaced);
    return out;
}

Json json_of(const Remedy& r) {
    Json out = Json::object();
    out["change"] = to_text(r.lever);
    put(out, "of", r.of);
    if (r.lever == Lever::kNode) {
        if (r.nodes.size() == 1)
            put(out, "node", r.nodes.front());
        else
            put(out, "nodes", r.nodes);
        put(out, "domain", r.domain);
    } else {
        const bool seconds = r.lever != Lever::kPriority;
        out[seconds ? "fromSeconds" : "from"] = r.from;
        out[seconds ? "toSeconds" : "to"] = r.to;
    }
    out["then"] = json_of(r.then);
    return out;
}

Json json_of(const Margin& m) {
    Json out = Json::object();
    if (m.without) out["without"] = json_of(*m.without);
    put_list(out, "sparedIf", m.remedies, [](const Remedy& r) { return json_of(r); });
    out["plans"] = m.plans;
    out["complete"] = m.complete;
    return out;
}

Json json_of(const Standing& s) {
    Json out = Json::object();
    out["priority"] = s.priority;
    put(out, "queue", s.queue);
    out["ranSeconds"] = s.ran_seconds;
    if (s.checkpoint_age) out["checkpointAgeSeconds"] = *s.checkpoint_age;
    if (s.lost_work) {
        out["lostWork"] = *s.lost_work;
        put(out, "lostResource", s.lost_resource);
    }
    out["graceSeconds"] = s.grace_seconds;
    return out;
}

Json json_of(const OrderedUnit& unit) {
    Json out = Json::object();
    put(out, "pods", unit.pods);
    out["evicted"] = unit.evicted;
    if (unit.subject) out["subject"] = true;
    return out;
}

Json json_of(const EvictionStory& e) {
    Json out = Json::object();
    put(out, "for", e.owner);
    if (e.owner_priority) out["forPriority"] = *e.owner_priority;
    put(out, "action", e.action);
    put(out, "rule", e.rule);
    put(out, "reason", e.reason);
    out["unit"] = to_text(e.unit);
    put(out, "group", e.group);
    out["mode"] = to_text(e.mode);
    out["pdbViolation"] = e.pdb_violation;
    put(out, "pods", e.pods);
    put(out, "nodes", e.nodes);
    put(out, "with", e.with);
    put(out, "frees", e.frees);
    put(out, "shares", e.shared);
    put_list(out, "order", e.order, [](const OrderedUnit& u) { return json_of(u); });
    if (e.standing) out["standing"] = json_of(*e.standing);
    if (e.certificate) out["certificate"] = json_of(*e.certificate);
    if (e.margin) out["margin"] = json_of(*e.margin);
    return out;
}

Json json_of(const SparedStory& s) {
    Json out = Json::object();
    put(out, "for", s.owner);
    put(out, "action", s.action);
    put(out, "node", s.node);
    put(out, "rule", s.rule);
    put(out, "why", s.why);
    put(out, "instead", s.instead);
    if (s.rule.empty()) out["next"] = s.next;
    if (s.then) out["then"] = json_of(*s.then);
    return out;
}

Json json_of(const UnplacedStory& u) {
    Json out = Json::object();
    put(out, "pods", u.pods);
    if (u.replicas > 0) out["replicas"] = u.replicas;
    out["verdict"] = u.never ? "never" : "notNow";
    put(out, "reason", u.reason);
    put(out, "nodes", u.nodes);
    put_list(out, "certificates", u.certificates, [](const Certificate& c) { return json_of(c); });
    put_list(out, "placedIf", u.remedies, [](const Remedy& r) { return json_of(r); });
    if (u.plans > 0) out["plans"] = u.plans;
    return out;
}

Json json_of(const Placement& p) {
    Json out = Json::object();
    put(out, "pod", p.pod);
    put(out, "node", p.node);
    put(out, "devices", device_words(p));
    out["when"] = p.after_evictions ? "afterEvictions" : "now";
    put(out, "domain", p.domain);
    put(out, "action", p.action);
    return out;
}

Json json_of(const PlacementStory& p) {
    Json out = Json::object();
    put_list(out, "placements", p.placements, [](const Placement& item) { return json_of(item); });
    std::vector<std::string> expense;
    for (const Eviction& e : p.expense)
        expense.push_back(e.pod);
    put(out, "evicts", expense);
    if (p.certificate) out["certificate"] = json_of(*p.certificate);
    if (p.nodes > 0) {
        out["nodes"] = p.nodes;
        out["fittingNow"] = p.fitting;
        put(out, "others", p.others);
    }
    put(out, "alternatives", p.alternatives);
    return out;
}

}  // namespace

std::string explanation_to_json(const Explanation& e) {
    Json out = Json::object();
    out["apiVersion"] = "reprieve.dev/v1";
    out["kind"] = "Explanation";
    put(out, "plan", e.plan);
    out["now"] = format_time(e.now);
    put(out, e.gang ? "gang" : "pod", e.name);
    out["outcome"] = to_text(e.outcome);
    put(out, "node", e.node);
    put(out, "detail", e.detail);
    if (!e.serving.empty()) out["serving"] = e.serving;
    if (e.gang) {
        Json members = Json::object();
        for (const auto& [outcome, count] : e.members)
            members[to_text(outcome)] = count;
        out["members"] = std::move(members);
    }
    put_list(out, "evictions", e.evictions, [](const EvictionStory& s) { return json_of(s); });
    if (e.placement) out["placement"] = json_of(*e.placement);
    put_list(out, "unplaced", e.unplaced, [](const UnplacedStory& s) { return json_of(s); });
    put_list(out, "spared", e.spared, [](const SparedStory& s) { return json_of(s); });
    return out.dump(2) + "\n";
}

}  // namespace reprieve
