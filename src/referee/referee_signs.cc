// Referee: what belongs to a decision: its intent, its nodes, and what else the same scheduler had decided by then.
#include <algorithm>

#include "referee/referee.h"

namespace reprieve {
namespace {

constexpr Duration kIntentNear{30'000'000};
constexpr Duration kLateEventNear{90'000'000};

}  // namespace

// Pods come and go within seconds: what is judged later may concern some that are gone by then.
template <class See>
void Referee::each_sighting(See see) const {
    for (const auto& [name, sight] : pods_)
        see(sight);
    for (const auto& [uid, sight] : former_)
        see(sight);
}

const Referee::Sighting* Referee::sighting(const std::string& name, const std::string& uid) const {
    const auto pod = pods_.find(name);
    if (pod != pods_.end() && pod->second.uid == uid) return &pod->second;
    const auto gone = former_.find(uid);
    return gone == former_.end() ? nullptr : &gone->second;
}

// A victim may have been meant for somebody else before, or for the same, in a plan that was given up: the last intent
// before it was marked counts.
const Referee::FirstSign* Referee::sign_of(const Evicted& one, const std::string& owner) const {
    const auto signs = intents_.find(one.uid);
    if (signs == intents_.end()) return nullptr;
    const FirstSign* found = nullptr;
    for (const FirstSign& sign : signs->second) {
        if (sign.at + kIntentNear <= one.at || (found != nullptr && sign.at > one.at)) continue;
        const Sighting* by = sighting(sign.by, sign.by_uid);
        if (sign.by == owner || (by != nullptr && !by->group.empty() && by->group == owner)) found = &sign;
    }
    return found;
}

bool Referee::is_open(const Evicted& one, const FirstSign* sign, Time now) const {
    if (one.left + options_.quiet > now) return true;
    if (one.told.is_set()) return one.told + options_.quiet > now;
    // Who writes intents tells by Events what it did, after everything that is more urgent.
    return sign != nullptr && sign->seen != 0 && one.left + kLateEventNear > now;
}

bool Referee::waits_for_events(const Case& one, Time now) const {
    if (one.seen == 0 || one.until + kLateEventNear <= now) return false;
    std::set<std::string> schedulers;  // as pods call it; in marks and Events it may have another name
    const auto is_its = [&](const Sighting& sight) {
        return sight.name == one.what.owner || (!sight.group.empty() && sight.group == one.what.owner);
    };
    each_sighting([&](const Sighting& sight) {
        if (is_its(sight)) schedulers.insert(sight.scheduler);
    });
    bool waits = false;
    each_sighting([&](const Sighting& sight) {
        const bool then = sight.bound_at.is_set() && sight.bound_at + options_.blind >= one.at &&
                          sight.bound_at <= one.until + options_.quiet;
        const bool is_other = then && !is_its(sight) && !one.what.victims.contains(sight.name);
        waits = waits || (is_other && schedulers.contains(sight.scheduler) && !bound_told_.contains(sight.uid));
    });
    return waits;
}

std::set<std::string> Referee::nodes_of(const std::string& owner, Time since) const {
    std::set<std::string> out;
    each_sighting([&](const Sighting& sight) {
        if (sight.name != owner && sight.group != owner) return;
        if (!sight.node.empty() && sight.bound_at >= since) out.insert(sight.node);
        if (sight.node.empty() && !sight.nominated.empty()) out.insert(sight.nominated);
    });
    return out;
}

std::vector<OtherDeed> Referee::others_beside(const Case& one) const {
    std::vector<OtherDeed> out;
    if (!one.decided.at.is_set()) return out;
    std::set<std::string> waiting;  // demands that others were evicted for
    std::set<std::string> placed;
    const auto belongs = [](const Sighting& pod, const std::string& owner) {
        return pod.name == owner || (!pod.group.empty() && pod.group == owner);
    };
    for (const ToldDeed& deed : deeds_) {
        const Duration after = deed.node.empty() ? Duration() : one.unwritten;
        if (deed.decided.by != one.decided.by || deed.decided.at > one.decided.at + after) continue;
        const bool together = deed.decided.at >= one.decided.at;
        const Sighting* pod = sighting(deed.pod, deed.uid);
        if (!deed.node.empty()) {
            // It was bound, and is where it is said to be, or was to its end.
            if (pod == nullptr || pod->node != deed.node || belongs(*pod, one.what.owner)) continue;
            if (!placed.insert(deed.pod).second) continue;
            out.push_back({deed.pod, deed.node, pod->group.empty() ? deed.pod : pod->group, together});
        } else if (deed.owner != one.what.owner && !one.what.victims.contains(deed.pod)) {
            const auto there = pods_.find(deed.pod);
            if (there != pods_.end() && there->second.uid == deed.uid && !there->second.leaving)
                continue;  // it was not evicted after all
            out.push_back({deed.pod, "", deed.owner, together});
            if (!waiting.insert(deed.owner).second) continue;
            each_sighting([&](const Sighting& sight) {
                const std::string& node = sight.nominated.empty() ? sight.node : sight.nominated;
                if (belongs(sight, deed.owner) && !node.empty() && placed.insert(sight.name).second)
                    out.push_back({sight.name, node, deed.owner, together});
            });
        }
    }
    return out;
}

}  // namespace reprieve
