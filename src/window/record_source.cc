#include "window/record_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "state/pod_named.h"
#include "window/copy_process.h"
#include "window/decisions.h"
#include "window/documents.h"
#include "window/facts_json.h"

namespace reprieve::window {
namespace {

constexpr std::size_t kScenesKept = 4;
constexpr std::chrono::seconds kLookAgain{1};
constexpr std::size_t kDecisionsListed = 5'000;
constexpr std::size_t kLivesDrawn = 300;
constexpr std::size_t kLivesRead = 3'000;
constexpr std::size_t kSamplesShown = 500;
constexpr std::size_t kEntriesKept = 20'000;

OrderedJson parsed_or_text(const std::string& text) {
    OrderedJson json = OrderedJson::parse(text, nullptr, false);
    return json.is_discarded() ? OrderedJson(text) : json;
}

OrderedJson list_of_objects(const std::vector<std::string>& texts) {
    OrderedJson out = OrderedJson::array();
    for (const std::string& text : texts)
        out.push_back(parsed_or_text(text));
    return out;
}

void add_span(OrderedJson& spans, const char* state, Time from, Time to, const std::string& node = {}) {
    if (!from.is_set() || to <= from) return;
    OrderedJson span{{"state", state}, {"from", format_time(from)}, {"to", format_time(to)}};
    put(span, "node", node);
    spans.push_back(std::move(span));
}

// Who took from whom, in all decisions that are listed.
Taken taken_in(const std::vector<std::shared_ptr<const DecisionEntry>>& decisions) {
    Taken out;
    for (const auto& entry : decisions) {
        for (const std::string& loser : entry->losers)
            ++out[{entry->queue.empty() ? "-" : entry->queue, loser}];
    }
    return out;
}

std::string samples_json(const std::vector<RecordedUse>& uses) {
    OrderedJson out = OrderedJson::array();
    for (const RecordedUse& use : uses) {
        const OrderedJson queues = OrderedJson::parse(use.queues, nullptr, false);
        if (!queues.is_object()) continue;
        for (const auto& [queue, used] : queues.items())
            out.push_back({{"at", format_time(use.at)}, {"queue", queue}, {"used", used}});
    }
    return out.dump();
}

// The first moment of those that are set, and at most `until`.
Time earliest(std::initializer_list<Time> times, Time until) {
    for (const Time time : times) {
        if (time.is_set()) return std::min(time, until);
    }
    return until;
}

}  // namespace

RecordSource::RecordSource(std::unique_ptr<RecordReader> reader, Origin origin, std::string path)
    : reader_(std::move(reader)),
      opened_(std::chrono::steady_clock::now()),
      origin_(std::move(origin)),
      path_(std::move(path)) {}

RecordSource::~RecordSource() = default;

// A reader knows what there was when it was opened. One that cannot be opened now is no reason to forget the old one.
void RecordSource::look_again() {
    if (std::chrono::steady_clock::now() - opened_ < kLookAgain) return;
    opened_ = std::chrono::steady_clock::now();
    auto reader = RecordReader::open(path_);
    if (!reader) return;
    // What is damaged stays so, and is not looked for in every answer.
    (*reader)->inherit(*reader_);
    reader_ = std::move(*reader);
}

std::optional<Extent> RecordSource::extent() {
    const std::lock_guard lock(mutex_);
    look_again();
    Extent out{.from = reader_->from(), .to = reader_->to(), .gaps = {}};
    for (const RecordGap& gap : reader_->gaps())
        out.gaps.push_back({.from = gap.from, .to = gap.to, .why = gap.why});
    return out;
}

// An entry's id is made as the loop makes it: from the plan's digest and the place among the decisions of the cycle.
std::vector<std::shared_ptr<const DecisionEntry>> RecordSource::decisions_until(Time at) {
    DecisionQuery query;
    query.until = at;
    query.most = kDecisionsListed;
    std::vector<RecordedDecision> all = reader_->decisions(query);
    std::ranges::stable_sort(all, [](const RecordedDecision& a, const RecordedDecision& b) {
        if (a.cycle != b.cycle) return a.cycle > b.cycle;
        if (a.evictions.empty() != b.evictions.empty()) return b.evictions.empty();
        return a.owner < b.owner;
    });
    if (entries_.size() > kEntriesKept) entries_.clear();
    std::vector<std::shared_ptr<const DecisionEntry>> out;
    std::int64_t cycle = -1;
    int place = 0;
    std::string digest;
    for (const RecordedDecision& decision : all) {
        if (decision.cycle != cycle) {
            cycle = decision.cycle;
            place = 0;
            const auto recorded = reader_->cycle(cycle);
            digest = decision_digest(recorded ? recorded->plan_id : fmt::format("cycle{}", cycle));
        }
        ++place;
        const auto known = entries_.find(decision.id);
        // What became of it may be news.
        if (known != entries_.end() && known->second->outcome == decision.outcome &&
            known->second->started == decision.started) {
            out.push_back(known->second);
            continue;
        }
        out.push_back(entries_[decision.id] = entry_of(decision, fmt::format("{}-{}", digest, place)));
    }
    return out;
}

std::shared_ptr<const DecisionEntry> RecordSource::entry_of(const RecordedDecision& decision, const std::string& id) {
    auto entry = std::make_shared<DecisionEntry>();
    entry->id = id;
    entry->owner = decision.owner;
    entry->action = decision.action;
    entry->queue = decision.queue;
    entry->priority = decision.priority;
    entry->losers = decision.losers;
    entry->outcome = decision.outcome;
    entry->started = decision.started;
    entry->evicts = !decision.evictions.empty();
    entry->at = decision.at;
    entry->cycle = decision.cycle;
    entry->names = decision.victims;
    entry->names.insert(entry->names.end(), decision.placed.begin(), decision.placed.end());
    entry->names.push_back(decision.owner);
    OrderedJson row = OrderedJson::object();
    put(row, "id", id);
    row["at"] = time_json(decision.at);
    row["cycle"] = decision.cycle;
    put(row, "for", decision.owner);
    put(row, "action", decision.action);
    row["evictions"] = list_of_objects(decision.evictions);
    row["placements"] = list_of_objects(decision.placements);
    row["certificate"] = decision.certificate.empty() ? OrderedJson(nullptr) : parsed_or_text(decision.certificate);
    put(row, "outcome", decision.outcome);
    row["started"] = time_json(decision.started);
    if (decision.priority) row["priority"] = *decision.priority;
    put(row, "queue", decision.queue);
    if (!decision.lost.empty()) row["lost"] = parsed_or_text(decision.lost);
    if (row["certificate"].is_object()) entry->status = row["certificate"].value("status", "");
    entry->row = row.dump();
    return entry;
}

Result<std::unique_ptr<RecordSource::Scenery>> RecordSource::build(const RecordedCycle& cycle) {
    auto out = std::make_unique<Scenery>();
    out->cycle = cycle;
    auto config = config_of(*reader_, cycle);
    if (!config) return std::unexpected(config.error());
    out->config = std::move(*config);
    auto rebuilt = rebuild_at(*reader_, cycle, out->config);
    if (!rebuilt) return std::unexpected(rebuilt.error());
    out->rebuilt = std::move(*rebuilt);
    auto plan = reader_->plan(cycle);
    if (!plan) return std::unexpected(plan.error());
    out->plan = std::move(*plan);
    const Cluster& cluster = out->rebuilt->cluster();
    auto moment = std::make_shared<Moment>();
    moment->serial = cycle.id;
    moment->now = cycle.at;
    moment->decisions = decisions_until(cycle.at);
    Health health;
    health.loop = "none";
    health.recording = true;
    health.cycle = cycle.id;
    health.plan_ms = static_cast<double>(cycle.planning.us) / 1000.0;
    health.troubles = reader_->troubles();
    health.decisions_in_all = std::ssize(moment->decisions);
    for (const auto& entry : moment->decisions)
        health.evictions_in_all += entry->evicts ? std::ssize(OrderedJson::parse(entry->row)["evictions"]) : 0;
    moment->summary = summary_document(cluster, out->plan, health, "record");
    moment->waiting = waiting_document(cluster, out->plan);
    moment->queues = queues_document(
        cluster, out->plan, taken_in(moment->decisions), samples_json(reader_->use(cycle.at, kSamplesShown)));
    out->moment = std::move(moment);
    return out;
}

Result<RecordSource::Scenery*> RecordSource::scenery_of(const RecordedCycle& cycle) {
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
        if ((*it)->cycle.id != cycle.id) continue;
        std::rotate(kept_.begin(), it, std::next(it));
        return kept_.front().get();
    }
    auto built = build(cycle);
    if (!built) return std::unexpected(built.error());
    kept_.push_front(std::move(*built));
    while (kept_.size() > kScenesKept)
        kept_.pop_back();
    return kept_.front().get();
}

Result<RecordSource::Scenery*> RecordSource::scenery(std::optional<Time> at) {
    look_again();
    const auto cycle = reader_->cycle_at(at ? *at : reader_->to());
    if (!cycle) return fail("the record knows nothing of that time", ErrorKind::kNotFound);
    return scenery_of(*cycle);
}

Result<std::shared_ptr<const Moment>> RecordSource::moment(std::optional<Time> at) {
    const std::lock_guard lock(mutex_);
    const auto found = scenery(at);
    if (!found) return std::unexpected(found.error());
    return (*found)->moment;
}

Result<std::string> RecordSource::answer(Scenery& scenery,
                                         const Question& question,
                                         std::unique_lock<std::mutex>& lock) {
    // Forked under the lock: nobody moves the scenery away meanwhile.
    auto copy = start_copy(
        [&] {
            Scene scene{scenery.rebuilt->cluster(), scenery.plan, scenery.config};
            return question(scene);
        },
        {});
    lock.unlock();
    if (!copy) return std::unexpected(copy.error());
    return copy->wait();
}

Result<std::string> RecordSource::ask(std::optional<Time> at, const Question& question) {
    std::unique_lock lock(mutex_);
    const auto found = scenery(at);
    if (!found) return std::unexpected(found.error());
    return answer(**found, question, lock);
}

Result<std::string> RecordSource::ask_about(const DecisionEntry& entry, const Question& question) {
    std::unique_lock lock(mutex_);
    const auto cycle = reader_->cycle(entry.cycle);
    if (!cycle) return fail("the record no longer has that cycle", ErrorKind::kNotFound);
    const auto found = scenery_of(*cycle);
    if (!found) return std::unexpected(found.error());
    return answer(**found, question, lock);
}

Result<std::string> RecordSource::receipt(const DecisionEntry& entry) {
    const std::lock_guard lock(mutex_);
    const auto cycle = reader_->cycle(entry.cycle);
    if (!cycle) return fail("the record no longer has that cycle", ErrorKind::kNotFound);
    const auto found = scenery_of(*cycle);
    if (!found) return std::unexpected(found.error());
    const Scenery& scenery = **found;
    const Cluster& cluster = scenery.rebuilt->cluster();
    Decision decision;
    for (const Decision& one : decisions_of(scenery.plan, entry.cycle)) {
        if (one.owner == entry.owner) decision = one;
    }
    decision.id = entry.id;
    decision.owner = entry.owner;
    decision.action = entry.action;
    decision.at = entry.at;
    decision.cycle = entry.cycle;
    decision.outcome = entry.outcome;
    if (entry.started.is_set()) decision.started = format_time(entry.started);
    // What was new in it, where the plan also repeats what older ones had decided.
    const OrderedJson row = OrderedJson::parse(entry.row);
    std::erase_if(decision.evictions, [&](const Eviction& eviction) {
        return std::ranges::none_of(row["evictions"],
                                    [&](const auto& e) { return e.value("pod", "") == eviction.pod; });
    });
    std::erase_if(decision.placements, [&](const Placement& placement) {
        return std::ranges::none_of(row["placements"],
                                    [&](const auto& p) { return p.value("pod", "") == placement.pod; });
    });
    return describe(cluster, scenery.plan, decision, origin_)->receipt;
}

Result<std::string> RecordSource::room(std::optional<Time> at) {
    const std::lock_guard lock(mutex_);
    const auto found = scenery(at);
    if (!found) return std::unexpected(found.error());
    return room_document((*found)->rebuilt->cluster(), (*found)->plan);
}

// What the decisions of a record say of pods that may be gone.
struct RecordSource::Deeds {
    struct Place {
        std::string queue;
        std::optional<std::int32_t> priority;
        Time promised;  // not set: there was room
    };
    std::map<std::string, OrderedJson> marks;  // evictions, by pod
    std::map<std::string, Place> places;       // the last one of each pod
};

RecordSource::Deeds RecordSource::deeds_of(const Moment& moment) {
    Deeds out;
    for (const auto& entry : moment.decisions) {
        const OrderedJson row = OrderedJson::parse(entry->row);
        for (const auto& eviction : row["evictions"]) {
            OrderedJson mark{{"at", row["at"]}, {"what", "evicted"}, {"for", entry->owner}, {"action", entry->action}};
            put(mark, "decision", entry->id);
            out.marks[eviction.value("pod", "")].push_back(std::move(mark));
        }
        for (const auto& placement : row["placements"]) {
            const bool later = placement.value("when", "") == "afterEvictions";
            out.places.try_emplace(placement.value("pod", ""),
                                   Deeds::Place{entry->queue, entry->priority, later ? entry->at : Time{}});
        }
    }
    return out;
}

OrderedJson RecordSource::line_of(const PodLife& life, const Deeds& deeds, const Cluster& cluster, Time until) {
    OrderedJson line = OrderedJson::object();
    put(line, "pod", life.pod);
    if (!life.controller.empty()) put(line, "controller", namespace_of(life.pod) + "/" + life.controller);
    Deeds::Place place;
    if (const auto known = deeds.places.find(life.pod); known != deeds.places.end()) place = known->second;
    // Who is there, the cluster of that moment knows best.
    if (const PodId id = pod_named(cluster, life.pod); id && cluster.pod(id).uid == life.uid) {
        const Snapshot& s = cluster.snapshot();
        place.queue = queue_name(s, s.pods[id].queue);
        place.priority = s.pods[id].priority;
        if (s.pods[id].gang) put(line, "gang", s.gang_name(s.pods[id].gang));
    }
    put(line, "queue", place.queue);
    line["priority"] = place.priority.value_or(0);
    OrderedJson spans = OrderedJson::array();
    const Time end = earliest({life.ended}, until);
    const Time ran = earliest({life.bound, life.started}, end);
    const Time left = earliest({life.leaving}, end);
    const Time waited = place.promised.is_set() ? std::clamp(place.promised, std::min(life.created, ran), ran) : ran;
    add_span(spans, "waited", life.created, waited);
    add_span(spans, "promised", waited, ran, life.node);
    add_span(spans, "ran", ran, left, life.node);
    if (life.leaving.is_set()) add_span(spans, "leaving", left, end, life.node);
    line["spans"] = std::move(spans);
    const auto mark = deeds.marks.find(life.pod);
    line["marks"] = mark == deeds.marks.end() ? OrderedJson::array() : mark->second;
    return line;
}

// Those who were evicted, and the youngest: all pods of a week would be millions.
std::vector<PodLife> RecordSource::lives_until(Time until, const Deeds& deeds) {
    std::vector<PodLife> out;
    for (const auto& [pod, marks] : deeds.marks) {
        if (out.size() >= kLivesDrawn) break;
        for (PodLife& life : reader_->lives({.name = pod, .until = until}))
            out.push_back(std::move(life));
    }
    for (PodLife& life : reader_->lives({.until = until, .most = kLivesRead})) {
        if (!deeds.marks.contains(life.pod)) out.push_back(std::move(life));
    }
    std::erase_if(out, [&](const PodLife& life) { return life.created > until; });
    const auto rank = [&](const PodLife& life) { return deeds.marks.contains(life.pod) ? 0 : 1; };
    std::ranges::stable_sort(out, [&](const PodLife& a, const PodLife& b) {
        return rank(a) != rank(b) ? rank(a) < rank(b) : a.created > b.created;
    });
    return out;
}

Result<std::string> RecordSource::lifelines(std::optional<Time> at, const std::string& queue) {
    const std::lock_guard lock(mutex_);
    const auto found = scenery(at);
    if (!found) return std::unexpected(found.error());
    const Time until = (*found)->cycle.at;
    const Deeds deeds = deeds_of(*(*found)->moment);
    OrderedJson lines = OrderedJson::array();
    std::size_t total = 0;
    for (const PodLife& life : lives_until(until, deeds)) {
        OrderedJson line = line_of(life, deeds, (*found)->rebuilt->cluster(), until);
        if (!queue.empty() && line.value("queue", "") != queue) continue;
        ++total;
        if (lines.size() < kLivesDrawn) lines.push_back(std::move(line));
    }
    OrderedJson out{{"apiVersion", "reprieve.dev/v1"}, {"kind", "Lifelines"}, {"now", format_time(until)}};
    out["total"] = total;
    out["lines"] = std::move(lines);
    return out.dump();
}

std::optional<std::int64_t> RecordSource::cycle_of(const DecisionEntry& entry) {
    const std::lock_guard lock(mutex_);
    look_again();
    for (const RecordedCycle& cycle : reader_->cycles(entry.at, entry.at)) {
        if (entry.id.starts_with(decision_digest(cycle.plan_id) + "-")) return cycle.id;
    }
    return std::nullopt;
}

// A record that is still written grows: looked at again and again.
std::int64_t RecordSource::newest(std::int64_t seen, std::chrono::milliseconds wait) {
    const auto look = [&] {
        const std::lock_guard lock(mutex_);
        look_again();
        const auto cycle = reader_->cycle_at(reader_->to());
        return cycle ? cycle->id : 0;
    };
    const std::int64_t now = look();
    if (now != seen) return now;
    std::this_thread::sleep_for(wait);
    return look();
}

}  // namespace reprieve::window
