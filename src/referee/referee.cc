#include "referee/referee.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "state/pod_named.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPodKeys = "Pod ";
constexpr std::string_view kEventKeys = "Event";
constexpr std::string_view kWorkloadKeys = "Workload.kueue.x-k8s.io ";
constexpr const char* kIntentNote = "reprieve.dev/plan";
constexpr Duration kMarkLasts{120'000'000};  // the API server takes a mark back that nobody acted on
constexpr Duration kNominationNear{30'000'000};
constexpr Duration kCallTakes{10'000'000};  // at most, from a decision to its first sign
constexpr Duration kUndoKept{900'000'000};
constexpr Duration kFormerKept{300'000'000};  // longer than a decision waits to be judged
constexpr Duration kUnwritten{2'000'000};     // longer than a promise is kept in mind before it is written
constexpr int kMostStates = 200;              // in which one decision is judged

std::string string_at(const Json& object, std::initializer_list<const char*> path) {
    const Json* at = &object;
    for (const char* key : path) {
        if (!at->is_object()) return {};
        const auto found = at->find(key);
        if (found == at->end()) return {};
        at = &*found;
    }
    return at->is_string() ? at->get<std::string>() : std::string();
}

// 0: not a number.
std::uint64_t version_number(const std::string& text) {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() ? out : 0;
}

std::string owner_name(const Json& object, const std::string& ns) {
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || !metadata->contains("ownerReferences")) return {};
    for (const Json& owner : (*metadata)["ownerReferences"]) {
        if (owner.is_object()) return ns + "/" + string_at(owner, {"name"});
    }
    return {};
}

}  // namespace

Referee::Referee(RefereeOptions options) : options_(std::move(options)), world_(options_.config) {}

Result<void> Referee::see(Time at, const std::string& key, std::string_view json) {
    now_ = std::max(now_, at);
    if (!report_.from.is_set()) report_.from = at;
    report_.to = std::max(report_.to, at);
    if (key.starts_with(kEventKeys)) {
        if (!json.empty()) see_event(at, json);
        return {};
    }
    if (key.starts_with(kWorkloadKeys)) {
        if (!json.empty()) see_workload(at, key.substr(kWorkloadKeys.size()), json);
        return {};
    }
    const auto known = world_.world().find(key);
    std::optional<std::string> was;
    if (known != world_.world().end()) was = known->second.json;
    if (key.starts_with(kPodKeys)) see_pod(at, key.substr(kPodKeys.size()), json);
    if (auto applied = world_.apply({.at = at, .key = key, .believed = false, .json = json}); !applied) return applied;
    undo_.push_back({.seq = seq_++, .at = at, .key = key, .was = std::move(was), .version = 0});
    if (const auto pod = key.starts_with(kPodKeys) ? pods_.find(key.substr(kPodKeys.size())) : pods_.end();
        pod != pods_.end()) {
        pod->second.group = group_of(pod->first);
        undo_.back().version = pod->second.version;
    }
    while (!undo_.empty() && undo_.front().at + kUndoKept < now_)
        undo_.pop_front();
    for (; !gone_.empty() && gone_.front().first + kUndoKept < now_; gone_.pop_front()) {
        by_uid_.erase(gone_.front().second);
        told_.erase(gone_.front().second);
        intents_.erase(gone_.front().second);
        bound_told_.erase(gone_.front().second);
    }
    for (; !former_uids_.empty() && former_uids_.front().first + kFormerKept < now_; former_uids_.pop_front())
        former_.erase(former_uids_.front().second);
    if (key.starts_with("PodGroup") && !json.empty()) {
        const Json group = Json::parse(json, nullptr, false);
        if (group.is_object()) by_uid_[string_at(group, {"metadata", "uid"})] = key.substr(key.find(' ') + 1);
    }
    return {};
}

Referee::Evicted& Referee::evicted(Time at, const std::string& name) {
    const auto [found, fresh] = evicted_.try_emplace(name);
    Evicted& one = found->second;
    if (!fresh) return one;
    one.at = at;
    one.seq = seq_;
    if (const auto pod = pods_.find(name); pod != pods_.end()) {
        one.uid = pod->second.uid;
        one.node = pod->second.node;
        one.scheduler = pod->second.scheduler;
    }
    return one;
}

void Referee::see_event(Time at, std::string_view json) {
    const auto mark = mark_of_event(json);
    if (mark && !mark->victim.empty()) see_mark(at, mark->victim, *mark);
    auto deed = deed_of_event(json);
    if (!deed || deed->decided.at + kUndoKept < now_ || deed->decided.at > now_ + kNominationNear) return;
    if (const auto one = evicted_.find(deed->pod); one != evicted_.end() && one->second.uid == deed->uid) {
        one->second.decided = deed->decided;
        one->second.told = at;
        const FirstSign* intent = sign_of(one->second, deed->owner);
        const std::uint64_t seq = intent != nullptr ? intent->seq : one->second.seq;
        const auto [sign, fresh] = signs_.try_emplace(deed->decided, seq);
        if (!fresh) sign->second = std::min(sign->second, seq);
    }
    if (!deed->node.empty()) bound_told_.insert(deed->uid);
    deeds_.push_back(std::move(*deed));
    while (deeds_.front().decided.at + kUndoKept < now_)
        deeds_.pop_front();
    std::erase_if(signs_, [&](const auto& sign) { return sign.first.at + kUndoKept < now_; });
}

// Reprieve writes down whom it is going to evict before it marks anybody.
void Referee::see_intent(Time at, const Sighting& by, std::string_view note) {
    const Json intent = Json::parse(note, nullptr, false);
    if (!intent.is_object() || !intent.contains("victims") || !intent["victims"].is_array()) return;
    const std::uint64_t seen = version_number(string_at(intent, {"seen"}));
    const std::string plan = string_at(intent, {"id"});
    for (const Json& uid : intent["victims"]) {
        if (!uid.is_string()) continue;
        std::vector<FirstSign>& signs = intents_[uid.get<std::string>()];
        const auto is_known = [&](const FirstSign& sign) { return sign.by_uid == by.uid && sign.plan == plan; };
        if (std::ranges::none_of(signs, is_known))
            signs.push_back({.by = by.name, .by_uid = by.uid, .plan = plan, .at = at, .seq = seq_, .seen = seen});
    }
}

void Referee::see_pod(Time at, const std::string& name, std::string_view json) {
    const auto known = pods_.find(name);
    if (json.empty()) {
        if (known == pods_.end()) return;
        if (const auto one = evicted_.find(name); one != evicted_.end() && !one->second.left.is_set())
            one->second.left = at;
        gone_.emplace_back(at, known->second.uid);
        former_uids_.emplace_back(at, known->second.uid);
        former_.insert_or_assign(known->second.uid, std::move(known->second));
        pods_.erase(known);
        return;
    }
    const Json pod = Json::parse(json, nullptr, false);
    if (!pod.is_object()) return;
    Sighting& sight = pods_[name];
    const std::string uid = string_at(pod, {"metadata", "uid"});
    if (sight.uid != uid) sight = {.name = name, .uid = uid};
    sight.version = version_number(string_at(pod, {"metadata", "resourceVersion"}));
    by_uid_[uid] = name;
    const std::string ns = name.substr(0, name.find('/'));
    const std::string node = string_at(pod, {"spec", "nodeName"});
    const std::string nominated = string_at(pod, {"status", "nominatedNodeName"});
    if (!nominated.empty() && nominated != sight.nominated) sight.nominated_at = at;
    if (!node.empty() && sight.node.empty()) sight.bound_at = at;
    if (string_at(pod, {"status", "phase"}) == "Running" && !sight.started_at.is_set()) sight.started_at = at;
    sight.node = node;
    if (!nominated.empty()) sight.nominated = nominated;
    sight.scheduler = string_at(pod, {"spec", "schedulerName"});
    if (sight.scheduler.empty()) sight.scheduler = "default-scheduler";
    report_.schedulers.insert(sight.scheduler);
    sight.owner = owner_name(pod, ns);
    const bool leaving = !string_at(pod, {"metadata", "deletionTimestamp"}).empty();
    const bool leaves_now = leaving && !sight.leaving;
    sight.leaving = leaving;
    if (json.find(kIntentNote) != std::string_view::npos && node.empty())
        see_intent(at, sight, string_at(pod, {"metadata", "annotations", kIntentNote}));
    const bool may_be_marked = json.find("DisruptionTarget") != std::string_view::npos ||
                               json.find("TerminationTarget") != std::string_view::npos;
    if (may_be_marked) {
        if (const auto mark = mark_of_pod(json)) see_mark(at, name, *mark);
    }
    if (leaves_now && !node.empty() && !told_.contains(uid)) evicted(at, name).left = at;
}

void Referee::see_mark(Time at, const std::string& victim, const EvictionMark& mark) {
    if (mark.no_preemption) {
        evicted_.erase(victim);
        return;
    }
    const auto pod = pods_.find(victim);
    if (pod != pods_.end() && told_.contains(pod->second.uid)) return;
    if (pod == pods_.end() && !evicted_.contains(victim)) return;  // of a pod that is long gone
    Evicted& one = evicted(at, victim);
    one.marked = true;
    if (!mark.scheduler.empty()) one.mark.scheduler = mark.scheduler;
    if (!mark.by_name.empty()) one.mark.by_name = mark.by_name;
    if (!mark.by_uid.empty()) one.mark.by_uid = mark.by_uid;
    if (pod != pods_.end() && pod->second.leaving && !one.left.is_set()) one.left = at;
}

void Referee::see_workload(Time at, const std::string& name, std::string_view json) {
    const Json workload = Json::parse(json, nullptr, false);
    if (!workload.is_object()) return;
    by_uid_[string_at(workload, {"metadata", "uid"})] = name;
    jobs_[name] = owner_name(workload, name.substr(0, name.find('/')));
    const auto mark = mark_of_workload(json);
    if (!mark) return;
    // Its victims are the pods of its job.
    for (const auto& [pod, sight] : pods_) {
        if (!jobs_[name].empty() && sight.owner == jobs_[name] && !sight.node.empty()) see_mark(at, pod, *mark);
    }
}

std::pair<std::string, std::string> Referee::beneficiary(const Evicted& one) const {
    std::string name = one.mark.by_name;
    if (const auto found = by_uid_.find(one.mark.by_uid); name.empty() && found != by_uid_.end()) name = found->second;
    if (const auto job = jobs_.find(name); job != jobs_.end()) {
        // Kueue names a Workload; the demand is its job's gang, or its first pod.
        for (const auto& [pod, sight] : pods_) {
            if (sight.owner == job->second) return {sight.group.empty() ? pod : sight.group, "named"};
        }
    }
    if (!name.empty()) return {name, "named"};
    const std::string& scheduler = one.mark.scheduler.empty() ? one.scheduler : one.mark.scheduler;
    std::set<std::string> nominated;
    std::set<std::string> came;
    for (const auto& [pod, sight] : pods_) {
        const std::string& demand = sight.group.empty() ? pod : sight.group;
        const bool same = sight.scheduler == scheduler || scheduler.empty();
        if (!same || one.node.empty() || pod == one.uid) continue;
        const Time near = sight.nominated_at;
        if (sight.nominated == one.node && near.is_set() && near >= one.at + Duration{-kNominationNear.us} &&
            near <= one.at + kNominationNear)
            nominated.insert(demand);
        if (sight.node == one.node && sight.bound_at.is_set() && sight.bound_at >= one.left) came.insert(demand);
    }
    if (nominated.size() == 1) return {*nominated.begin(), "inferred"};
    if (nominated.empty() && came.size() == 1) return {*came.begin(), "inferred"};
    return {"", "unknown"};
}

// The gang's name is in many places, by dialect; the decoder knows them.
std::string Referee::group_of(const std::string& pod) {
    const PodId id = pod_named(world_.cluster(), pod);
    if (!id || !world_.cluster().pod(id).group) return {};
    return pod.substr(0, pod.find('/') + 1) + world_.cluster().words().str(world_.cluster().pod(id).group);
}

void Referee::note_gap(const RecordGap& gap) { report_.gaps.push_back(gap); }

const RecordGap* Referee::gap_between(Time from, Time to) const {
    for (const RecordGap& gap : report_.gaps) {
        if (gap.from <= to && from <= gap.to + options_.blind) return &gap;
    }
    return nullptr;
}

void Referee::look(Time now) {
    now_ = std::max(now_, now);
    judge_complete(now, false);
    judge_use(now);
}

void Referee::finish(Time now) {
    now_ = std::max(now_, now);
    judge_complete(now, true);
    judge_use(now);
    std::ranges::stable_sort(report_.verdicts, {}, &JudgedDecision::at);
}

void Referee::forget() {
    evicted_.clear();
    undo_.clear();
    pods_.clear();
    former_.clear();
    const RecordedWorld all = world_.world();
    for (const auto& [key, object] : all)
        static_cast<void>(world_.apply({.at = {}, .key = key, .believed = false, .json = {}}));
}

void Referee::judge_complete(Time now, bool all) {
    if (!options_.reads_marks) {
        evicted_.clear();
        return;
    }
    std::map<std::string, Case> cases;
    std::set<std::string> waiting;  // demands of which more may come
    std::vector<std::string> done;
    for (const auto& [name, one] : evicted_) {
        if (!one.left.is_set()) {
            if (one.at + kMarkLasts < now) done.push_back(name);  // a mark is not an eviction
            continue;
        }
        if (!one.marked) {
            if (one.left + options_.quiet < now) done.push_back(name);  // deleted by somebody, for some reason
            continue;
        }
        const auto [owner, confidence] = beneficiary(one);
        const std::string key = owner.empty() ? "? " + one.node : owner;
        const FirstSign* sign = sign_of(one, owner);
        const std::uint64_t seen = sign != nullptr ? sign->seen : 0;
        const bool open = is_open(one, sign, now);
        if (!all && open) waiting.insert(key);
        Case& which = cases[key];
        which.cut_off = which.cut_off || open;
        which.untold = which.untold || (seen != 0 && !one.told.is_set());
        which.what.owner = owner;
        which.what.victims.insert(name);
        which.confidence = confidence;
        which.scheduler = one.mark.scheduler.empty() ? one.scheduler : one.mark.scheduler;
        report_.schedulers.insert(which.scheduler);
        if (!which.at.is_set()) {
            which.decided = one.decided;
            which.seen = seen;
        }
        if (which.decided != one.decided) which.decided = {};
        if (which.seen != seen) which.seen = 0;
        which.until = std::max(which.until, one.left);
        const std::uint64_t seq = sign != nullptr ? sign->seq : one.seq;
        if (which.at.is_set() && which.seq <= seq) continue;
        which.at = sign != nullptr ? sign->at : one.at;
        which.seq = seq;
    }
    for (const std::string& name : done)
        evicted_.erase(name);
    for (auto& [key, which] : cases) {
        const bool waits = waits_for_events(which, now);
        if (waiting.contains(key) || (!all && waits)) continue;
        which.cut_off = which.cut_off || waits;
        which.what.nodes = nodes_of(which.what.owner, which.at);
        const bool wanted = options_.schedulers.empty() || options_.schedulers.contains(which.scheduler);
        if (wanted) judge_case(which);
        for (const std::string& victim : which.what.victims) {
            told_.insert(evicted_[victim].uid);
            evicted_.erase(victim);
        }
    }
}

void Referee::add_own(Time at, const EvictionCase& what, const std::string& scheduler, Ruling ruling) {
    if (!options_.schedulers.empty() && !options_.schedulers.contains(scheduler)) return;
    JudgedDecision out{.at = at,
                       .scheduler = scheduler,
                       .owner = what.owner,
                       .victims = {what.victims.begin(), what.victims.end()},
                       .confidence = "named",
                       .ruling = std::move(ruling)};
    note_repeats(out);
    unproven_.push_back(report_.verdicts.size());
    report_.verdicts.push_back(std::move(out));
}

void Referee::judge_case(const Case& one) {
    JudgedDecision out{.at = one.at,
                       .scheduler = one.scheduler,
                       .owner = one.what.owner,
                       .victims = {one.what.victims.begin(), one.what.victims.end()},
                       .confidence = one.confidence,
                       .ruling = {}};
    if (const RecordGap* gap = gap_between(one.at, one.until)) {
        out.ruling.evidence = fmt::format("changes between {} and {} were missed or came late: {}",
                                          format_time(gap->from),
                                          format_time(gap->to),
                                          gap->why);
        out.ruling.least_pods = std::ssize(out.victims);
    } else if (one.what.owner.empty()) {
        out.ruling.evidence =
            "for whom is not known: nobody was named, and more than one demand may have gained, or none";
        out.ruling.least_pods = std::ssize(out.victims);
    } else {
        out.ruling = rule_over_time(one);
        if (is_against(out.ruling.verdict) && (one.cut_off || one.untold)) {
            out.ruling.evidence = fmt::format("{}, but {}",
                                              out.ruling.evidence,
                                              one.cut_off ? "watching ended before all of its signs can have come"
                                                          : "its Events did not come in time");
            out.ruling.verdict = CaseVerdict::kUnclear;
        }
    }
    note_repeats(out);
    unproven_.push_back(report_.verdicts.size());
    report_.verdicts.push_back(std::move(out));
}

// A scheduler may have decided on what was true a moment ago. What is said against it must be true in every state
// between then and the first sign of its decision.
Ruling Referee::rule_over_time(const Case& one) {
    std::map<std::string, std::string> later;  // what is now, of everything that is taken back
    auto ruling = rule_in_all_states(one, later);
    for (const auto& [key, json] : later) {
        if (auto again = world_.apply({.at = one.at, .key = key, .believed = false, .json = json}); !again)
            ruling = std::unexpected(again.error());
    }
    if (!ruling) {
        Ruling out;
        out.evidence = ruling.error().message;
        out.least_pods = std::ssize(one.what.victims);
        return out;
    }
    if (!is_against(ruling->verdict) || one.seen == 0 || one.unwritten.us > 0) return std::move(*ruling);
    // Who writes intents holds room for those who wait for it without writing that down at once. They are bound soon.
    Case soon = one;
    soon.unwritten = kUnwritten;
    if (!is_against(rule_over_time(soon).verdict)) {
        ruling->verdict = CaseVerdict::kUnclear;
        ruling->evidence += ", unless the room was promised to those who were bound there a moment later";
    }
    return std::move(*ruling);
}

// Who says up to which change of a pod it had read is taken at its word, within the time in which it may have decided:
// pods come to everybody in the same order. A pod that was taken away has no version of its own; it stands between
// others.
std::vector<Referee::Known> Referee::known_to(const Case& one, std::uint64_t first) const {
    std::vector<Known> out(undo_.size(), Known::kPerhaps);
    if (one.seen == 0) return out;
    std::uint64_t last = 0;
    std::vector<std::size_t> removed;  // since `last`
    for (std::size_t i = 0; i < undo_.size(); ++i) {
        const Undo& change = undo_[i];
        if (!change.key.starts_with(kPodKeys)) continue;
        if (change.version == 0) {
            out[i] = last >= one.seen ? Known::kNo : Known::kYes;
            if (last < one.seen) removed.push_back(i);
            continue;
        }
        out[i] = change.version <= one.seen ? Known::kYes : Known::kNo;
        // What had been seen last was one of those that were taken away: the first of them, or a later one.
        if (out[i] == Known::kNo && last < one.seen) {
            for (std::size_t k = 1; k < removed.size(); ++k)
                out[removed[k]] = Known::kPerhaps;
        }
        removed.clear();
        last = change.version;
    }
    const Time when = decided_at(one);
    for (std::size_t i = 0; i < undo_.size(); ++i) {
        const bool too_old = undo_[i].seq < first && undo_[i].at + options_.blind < when;
        if (too_old && out[i] == Known::kNo) return std::vector<Known>(undo_.size(), Known::kPerhaps);
    }
    return out;
}

// Between the decision and its first sign lies a call, which takes long where the API server is busy.
Time Referee::decided_at(const Case& one) {
    const Time earliest = one.at + Duration{-kCallTakes.us};
    return one.decided.at.is_set() ? std::clamp(one.decided.at, earliest, one.at) : one.at;
}

Result<Ruling> Referee::rule_in_all_states(const Case& one, std::map<std::string, std::string>& later) {
    const auto take_back = [&](const std::string& key, const std::optional<std::string>& was) {
        const auto is = world_.world().find(key);
        later.try_emplace(key, is == world_.world().end() ? std::string() : is->second.json);
        return world_.apply({.at = one.at, .key = key, .believed = false, .json = was ? *was : std::string()});
    };
    // 1. To the state in which the first sign was not there yet, of this or of what was decided together with it.
    const auto sign = signs_.find(one.decided);
    const std::uint64_t first = sign == signs_.end() ? one.seq : std::min(one.seq, sign->second);
    const std::vector<OtherDeed> others = others_beside(one);
    const std::vector<Known> known = known_to(one, first);
    std::map<std::string, std::optional<std::string>> before;
    for (std::size_t i = undo_.size(); i-- > 0;) {
        // Whom it evicts it knew to be there, also where the watch had not told it yet: the binding may be its own.
        const bool of_victim =
            undo_[i].key.starts_with(kPodKeys) && one.what.victims.contains(undo_[i].key.substr(kPodKeys.size()));
        if (undo_[i].seq >= first || (known[i] == Known::kNo && !of_victim)) before[undo_[i].key] = undo_[i].was;
    }
    for (const auto& [key, was] : before) {
        if (auto back = take_back(key, was); !back) return std::unexpected(back.error());
    }
    auto newest = judge_beside(world_, one.what, others, options_.config, one.at);
    if (!newest || !newest->heard || !is_against(newest->verdict)) return newest;
    // 2. Change by change to the oldest that it may have seen.
    const Time when = decided_at(one);
    int states = 1;
    for (std::size_t i = undo_.size(); i-- > 0;) {
        if (undo_[i].at + std::max(options_.blind, options_.blind_apart) < when) break;
        if (undo_[i].seq >= first || known[i] != Known::kPerhaps) continue;
        const bool is_pod = undo_[i].key.starts_with(kPodKeys);
        if (undo_[i].at + (is_pod ? options_.blind : options_.blind_apart) < when) continue;
        ++states;
        if (auto back = take_back(undo_[i].key, undo_[i].was); !back) return std::unexpected(back.error());
        auto older = judge_beside(world_, one.what, others, options_.config, one.at);
        if (!older) return older;
        if (!older->heard) break;  // nobody can have decided so early
        if (older->verdict == newest->verdict && states < kMostStates) continue;
        newest->evidence =
            older->verdict == newest->verdict
                ? fmt::format("it may depend on what had been seen: more than {} changes came in that moment",
                              kMostStates)
                : fmt::format("it depends on what had been seen: {} when it was done ({}), {} a moment before ({})",
                              to_text(newest->verdict),
                              newest->evidence,
                              to_text(older->verdict),
                              older->evidence);
        newest->verdict = CaseVerdict::kUnclear;
        break;
    }
    return newest;
}

Time Referee::started(const std::string& owner, Time since) const {
    Time out;
    for (const auto& [pod, sight] : pods_) {
        const bool member = pod == owner || sight.group == owner;
        if (member && sight.started_at.is_set() && sight.started_at >= since) out = std::max(out, sight.started_at);
    }
    return out;
}

// Whether the room that the earlier evictions made is no longer there, or somebody more important has taken it: then
// evicting again is not the scheduler's doing.
bool Referee::lost_its_room(const JudgedDecision& judged, const JudgedDecision& earlier) {
    Cluster& cluster = world_.cluster();
    if (!cluster.refresh(judged.at)) return false;
    for (const std::string& name : earlier.ruling.nodes) {
        const NodeId node = cluster.find_node(cluster.words().string(name));
        if (!node || cluster.node(node) == nullptr || !cluster.node(node)->ready) return true;
    }
    for (const auto& [name, sight] : pods_) {
        const bool came = earlier.ruling.nodes.contains(sight.node) && sight.bound_at >= earlier.at;
        const bool comes = earlier.ruling.nodes.contains(sight.nominated) && sight.nominated_at >= earlier.at;
        if ((!came && !comes) || name == judged.owner || sight.group == judged.owner) continue;
        const PodId pod = pod_named(cluster, name);
        if (pod && cluster.snapshot().pods[pod].priority > judged.ruling.priority) return true;
    }
    return false;
}

void Referee::note_repeats(JudgedDecision& judged) {
    if (judged.owner.empty() || judged.ruling.verdict != CaseVerdict::kFair) return;
    for (const JudgedDecision& earlier : report_.verdicts) {
        const bool same = earlier.owner == judged.owner && earlier.at < judged.at &&
                          !std::ranges::includes(earlier.victims, judged.victims) &&  // else it goes on with it
                          !started(judged.owner, earlier.at).is_set() && !lost_its_room(judged, earlier);
        const bool mutual = std::ranges::find(judged.victims, earlier.owner) != judged.victims.end() &&
                            std::ranges::find(earlier.victims, judged.owner) != earlier.victims.end();
        if (!same && !mutual) continue;
        judged.ruling.verdict = CaseVerdict::kRepeated;
        judged.ruling.evidence =
            same ? fmt::format("{} had {} evicted at {} already, and has not started since",
                               judged.owner,
                               fmt::join(earlier.victims, ", "),
                               format_time(earlier.at))
                 : fmt::format("{} had evicted {} at {}", earlier.owner, judged.owner, format_time(earlier.at));
        return;
    }
}

// Whether those who were evicted for have started by now.
void Referee::judge_use(Time now) {
    std::erase_if(unproven_, [&](std::size_t index) {
        JudgedDecision& one = report_.verdicts[index];
        if (one.owner.empty() || one.ruling.verdict != CaseVerdict::kFair) return true;
        if (started(one.owner, one.at).is_set()) return true;
        if (one.at + options_.start_within > now) return false;
        one.ruling.verdict = CaseVerdict::kWasted;
        one.ruling.least_pods = 0;
        one.ruling.least_gpu_hours = 0;
        one.ruling.evidence =
            fmt::format("{} did not start within {}", one.owner, format_duration(options_.start_within));
        return true;
    });
}

}  // namespace reprieve
