#include "app/recorded_lives.h"

#include <algorithm>

namespace reprieve {
namespace {

constexpr std::string_view kPodKey = "Pod ";

}  // namespace

Result<void> RecordedLives::read(RecordReader& reader) {
    // What each cycle evicted; a dry run did not.
    std::map<std::int64_t, std::vector<std::string>> victims;
    for (const RecordedDecision& decision : reader.decisions({})) {
        if (decision.outcome == "dropped") continue;
        auto& of_cycle = victims[decision.cycle];
        of_cycle.insert(of_cycle.end(), decision.victims.begin(), decision.victims.end());
    }
    RecordVisitor visitor;
    visitor.keyframe = [&](const RecordedWorld& world, Time at, bool fresh) -> Result<void> {
        const bool first = !start_.is_set();
        if (first) start_ = at;
        if (!first && !fresh) return {};
        std::vector<std::string> gone;  // while nobody looked
        for (const auto& [key, life] : lives_) {
            if (!world.contains(key)) gone.push_back(key);
        }
        for (const auto& [name, node] : nodes_) {
            if (!world.contains("Node " + name)) gone.push_back("Node " + name);
        }
        for (const std::string& key : gone)
            see_gone(key, at);
        for (const auto& [key, object] : world)
            see({.at = at, .key = key, .believed = false, .json = object.json});
        return {};
    };
    visitor.change = [&](const RecordedChange& change) -> Result<void> {
        see(change);
        return {};
    };
    visitor.cycle = [&](const RecordedCycle& cycle) -> Result<bool> {
        if (const auto decided = victims.find(cycle.id); decided != victims.end()) {
            for (const std::string& pod : decided->second)
                mark_evicted(pod);
        }
        return true;
    };
    if (auto walked = reader.walk({}, visitor); !walked) return walked;
    end_ = std::max(reader.to(), start_);
    for (auto& [name, node] : nodes_) {
        if (node.down) node.outages.push_back({*node.down - start_, {(end_ - *node.down).us + 1}});
    }
    return {};
}

void RecordedLives::see(const RecordedChange& change) {
    if (change.believed) return;
    const std::string key(change.key);
    if (change.json.empty()) return see_gone(key, change.at);
    auto decoded = decoder_.decode_leniently(change.json).object;
    if (!decoded) return;
    if (const auto* node = std::get_if<Node>(&*decoded)) return see_node(*node, change.at);
    if (const auto* pod = std::get_if<Pod>(&*decoded)) return see_pod(key, *pod, change.at);
    if (const auto* gang = std::get_if<Gang>(&*decoded)) {
        const std::string name = words_.str(gang->ns) + "/" + words_.str(gang->name);
        const auto known = gang_names_.try_emplace(name, static_cast<std::int64_t>(gangs_.size()));
        if (known.second) gangs_.emplace_back();
        gangs_[static_cast<std::size_t>(known.first->second)].fact = *gang;
        return;
    }
    if (const auto* one = std::get_if<PriorityClass>(&*decoded)) classes_[words_.str(one->name)] = *one;
    if (std::holds_alternative<DisruptionBudget>(*decoded)) budgets_.insert(key);
    if (std::holds_alternative<PriorityClass>(*decoded) || std::holds_alternative<Queue>(*decoded) ||
        std::holds_alternative<Namespace>(*decoded))
        facts_[key] = std::string(change.json);
}

void RecordedLives::see_node(const Node& node, Time at) {
    const auto [known, fresh] = nodes_.try_emplace(words_.str(node.name));
    RecordedNode& seen = known->second;
    if (fresh && at > start_) seen.down = start_;
    seen.fact = node;
    if (!node.ready && !seen.down) seen.down = at;
    if (node.ready && seen.down) {
        if (at > *seen.down) seen.outages.push_back({*seen.down - start_, at - *seen.down});
        seen.down.reset();
    }
}

bool RecordedLives::node_is_down(StringId node) const {
    const auto known = nodes_.find(words_.str(node));
    return known != nodes_.end() && known->second.down.has_value();
}

std::int64_t RecordedLives::gang_of(const Pod& pod) {
    if (!pod.group) return -1;
    const std::string name = words_.str(pod.ns) + "/" + words_.str(pod.group);
    const auto known = gang_names_.try_emplace(name, static_cast<std::int64_t>(gangs_.size()));
    if (known.second) {
        gangs_.emplace_back().fact.name = pod.group;
        gangs_.back().fact.ns = pod.ns;
        gangs_.back().fact.min_members = std::max(pod.more().koordinator_min, 0);
    }
    return known.first->second;
}

std::size_t RecordedLives::place_for(const std::string& key, const Pod& pod, Time at) {
    const std::string controller = pod.owner.uid ? "of " + words_.str(pod.owner.uid) : std::string();
    for (const std::string& name : {key, controller}) {
        const auto waiting = free_.find(name);
        if (waiting == free_.end()) continue;
        // Each place waits under two names: those that were taken under the other are passed over.
        auto& queue = waiting->second;
        while (!queue.empty() && places_[queue.front()].end != RecordedPlace::End::kInterrupted)
            queue.pop_front();
        if (queue.empty()) continue;
        const std::size_t place = queue.front();
        queue.pop_front();
        places_[place].end = RecordedPlace::End::kOpen;
        return place;
    }
    // Some controllers replace a pod as soon as it terminates.
    auto& leaving = leaving_[controller];
    while (!controller.empty() && !leaving.empty()) {
        const auto life = lives_.find(leaving.front());
        leaving.pop_front();
        if (life == lives_.end() || life->second.finished || life->second.replaced) continue;
        life->second.replaced = true;
        interrupt(life->second, at);
        places_[life->second.place].end = RecordedPlace::End::kOpen;
        return life->second.place;
    }
    RecordedPlace& place = places_.emplace_back();
    place.gang = gang_of(pod);
    place.submitted = std::max(pod.created.is_set() ? pod.created : at, start_);
    return places_.size() - 1;
}

void RecordedLives::see_pod(const std::string& key, const Pod& pod, Time at) {
    if (pod.mirror || words_.text(pod.owner.kind) == "DaemonSet") {
        if (!pod.node) return;
        const std::string by = words_.str(pod.owner.uid ? pod.owner.uid : words_.string(pod.name));
        nodes_[words_.str(pod.node)].fixed[by] = pod.spec;
        return;
    }
    if (const auto known = lives_.find(key); known != lives_.end() && known->second.uid != pod.uid) end_life(key, at);
    auto [known, fresh] = lives_.try_emplace(key);
    Life& life = known->second;
    if (fresh) {
        if (pod.finished()) {  // before the record began
            lives_.erase(known);
            return;
        }
        life.uid = pod.uid;
        life.place = place_for(key, pod, at);
        places_[life.place].started = {};
    }
    if (pod.disruption_target) set_evicted(key, life);
    if (life.replaced) return;
    RecordedPlace& place = places_[life.place];
    place.pod = pod;
    if (pod.phase == PodPhase::kRunning && !place.started.is_set()) {
        place.started = std::max(pod.started.is_set() ? pod.started : at, start_);
        if (!place.first_started.is_set()) place.first_started = pod.started.is_set() ? pod.started : at;
    }
    if (const Time told = pod.more().last_checkpoint; told.is_set() && told > life.checkpoint) {
        const Duration period = told - (life.checkpoint.is_set() ? life.checkpoint : place.started);
        if (period.us > 0 && (place.checkpoint.us == 0 || period < place.checkpoint)) place.checkpoint = period;
        life.checkpoint = told;
    }
    if (pod.finished() && !life.finished && !(life.evicted && pod.phase == PodPhase::kFailed)) {
        life.finished = true;
        place.end = RecordedPlace::End::kDone;
        place.ended = at;
    }
}

void RecordedLives::mark_evicted(const std::string& pod) {
    const auto known = lives_.find(std::string(kPodKey) + pod);
    if (known == lives_.end() || known->second.finished) return;
    set_evicted(known->first, known->second);
    ++evictions_;
    const RecordedPlace& place = places_[known->second.place];
    if (place.gang >= 0) gangs_[static_cast<std::size_t>(place.gang)].hit = true;
}

void RecordedLives::set_evicted(const std::string& key, Life& life) {
    if (life.evicted) return;
    life.evicted = true;
    if (const StringId controller = places_[life.place].pod.owner.uid)
        leaving_["of " + words_.str(controller)].push_back(key);
}

void RecordedLives::see_gone(const std::string& key, Time at) {
    if (key.starts_with(kPodKey)) return end_life(key, at);
    if (key.starts_with("Node ")) {
        const auto known = nodes_.find(key.substr(5));
        if (known != nodes_.end() && !known->second.down) known->second.down = at;
        return;
    }
    // A gang of the same name that comes later is another one, and nobody comes back to this one.
    const std::size_t blank = key.find(' ');
    if (!key.starts_with("PodGroup") || blank == std::string::npos) return;
    const auto known = gang_names_.find(key.substr(blank + 1));
    if (known == gang_names_.end()) return;
    for (RecordedPlace& place : places_) {
        if (place.gang == known->second && place.end == RecordedPlace::End::kInterrupted)
            place.end = RecordedPlace::End::kDeleted;
    }
    gang_names_.erase(known);
}

void RecordedLives::end_life(const std::string& key, Time at) {
    const auto known = lives_.find(key);
    if (known == lives_.end()) return;
    const Life life = known->second;
    lives_.erase(known);
    if (life.finished || life.replaced) return;
    RecordedPlace& place = places_[life.place];
    const bool with_gang = place.gang >= 0 && gangs_[static_cast<std::size_t>(place.gang)].hit;
    if (!life.evicted && !with_gang && !(place.pod.node && node_is_down(place.pod.node))) {
        place.ended = at;
        place.end = RecordedPlace::End::kDeleted;
        return;
    }
    interrupt(life, at);
    free_[key].push_back(life.place);
    if (place.pod.owner.uid) free_["of " + words_.str(place.pod.owner.uid)].push_back(life.place);
}

void RecordedLives::interrupt(const Life& life, Time at) {
    RecordedPlace& place = places_[life.place];
    place.ended = at;
    place.end = RecordedPlace::End::kInterrupted;
    ++place.interruptions;
    if (place.started.is_set() && life.checkpoint > place.started)
        place.saved.us += (life.checkpoint - place.started).us;
}

}  // namespace reprieve
