#include "window/loop_source.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "actions/cycle.h"
#include "window/decisions.h"
#include "window/facts_json.h"
#include "window/questions.h"

namespace reprieve::window {
namespace {

constexpr std::size_t kDecisionsKept = 5'000;
constexpr std::size_t kSamplesKept = 3'000;
constexpr std::size_t kTroublesKept = 20;
constexpr std::chrono::milliseconds kPublishEvery{200};
constexpr std::chrono::seconds kLooksFor{20};         // somebody who asked looks for so long
constexpr std::chrono::milliseconds kAnswerIn{3000};  // until the loop takes a question
constexpr std::size_t kExplainedAtOnce = 4;           // decisions of one cycle
constexpr std::size_t kCopiesAtOnce = 2;
constexpr std::size_t kAlwaysExplained = 5'000;  // pods; larger clusters are explained while somebody looks
constexpr Duration kSampleEvery{1'000'000};

}  // namespace

LoopSource::LoopSource(Cluster& cluster, const SchedulerConfig& config, LoopFacts facts)
    : cluster_(cluster),
      config_(config),
      facts_(std::move(facts)),
      moment_(std::make_shared<Moment>()) {
    health_.loop = "turning";
    health_.recording = facts_.recording;
    collector_ = std::thread([this] { collect_whys(); });
}

LoopSource::~LoopSource() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        for (Request* request : requests_) {
            request->answer = fail("the program ends");
            request->taken = true;
        }
        requests_.clear();
    }
    to_explain_.notify_all();
    changed_.notify_all();
    collector_.join();
}

void LoopSource::on_change(const Change& change, const Cluster& cluster, Time now) {
    lives_.note(change, cluster, now);
    note_start(change, now);
    stale_ = true;
}

// Nobody may look for days: what is written into a decision is noted here, and written when somebody does.
void LoopSource::note_start(const Change& change, Time now) {
    const Pod* pod = std::get_if<Pod>(&change.object);
    if (pod == nullptr) return;
    const auto start = starts_.find(pod->uid);
    if (start == starts_.end()) return;
    const bool runs = !change.removed && pod->phase == PodPhase::kRunning;
    if (!runs && !change.removed) return;
    if (runs) started_.try_emplace(start->second, format_time(pod->started.is_set() ? pod->started : now));
    starts_.erase(start);
}

// REQUIRES: the mutex is held. Entries do not change, so new ones take their places.
void LoopSource::write_starts() {
    for (const auto& [number, when] : std::exchange(started_, {})) {
        std::shared_ptr<const DecisionEntry>& entry = decisions_[static_cast<std::size_t>(last_made_ - number)];
        auto copy = std::make_shared<DecisionEntry>(*entry);
        for (std::string* text : {&copy->row, &copy->receipt}) {
            OrderedJson object = OrderedJson::parse(*text);
            if (object["started"].is_null()) object["started"] = when;
            *text = object.dump();
        }
        entry = std::move(copy);
    }
}

// REQUIRES: the mutex is held.
void LoopSource::forget_old_decisions() {
    while (decisions_.size() > kDecisionsKept)
        decisions_.pop_back();
    const std::int64_t oldest = last_made_ - std::ssize(decisions_) + 1;
    started_.erase(started_.begin(), started_.lower_bound(oldest));
    // Pods that never ran and were not seen to go.
    if (starts_.size() < most_starts_) return;
    std::erase_if(starts_, [&](const auto& start) { return start.second < oldest; });
    most_starts_ = std::max(2 * kDecisionsKept, 2 * starts_.size());
}

void LoopSource::on_trouble(const std::string& what, Time) {
    health_.troubles.insert(health_.troubles.begin(), what);
    if (health_.troubles.size() > kTroublesKept) health_.troubles.pop_back();
    stale_ = true;
}

void LoopSource::on_cycle(const CycleReport& report) {
    health_.cycle = report.number;
    health_.plans_refused += std::ssize(report.refused);
    health_.plan_ms = static_cast<double>(report.planning.us) / 1000.0;
    count_taken(report.cluster, report.news, taken_);
    keep_decisions(report);
    note_promises(report);
    if (watched() || std::ssize(report.plan.unplaced) < 1000) plan_ = report.plan;
    take_sample(report.now);
    stale_ = true;
    publish(report.now, !report.news.empty());
    serve_requests();
}

// What this plan decides that the one before did not: a promise is repeated in every plan until it is kept.
void LoopSource::keep_decisions(const CycleReport& report) {
    Plan news;
    news.id = report.plan.id;
    news.now = report.now;
    news.evictions = report.news;
    news.certificates = report.plan.certificates;
    std::set<std::string> placed;
    for (const Placement& placement : report.plan.placements) {
        // A promise that is kept is still the decision that made it.
        const std::string key = placement.uid + " " + placement.node;
        placed.insert(key);
        if (!placed_before_.contains(key)) news.placements.push_back(placement);
    }
    placed_before_ = std::move(placed);
    std::vector<std::shared_ptr<DecisionEntry>> fresh;
    std::vector<Decision> made = decisions_of(news, report.number);
    last_made_ += std::ssize(made);
    for (Decision& decision : made) {
        const std::int64_t number = last_made_ - std::ssize(fresh);
        decision.outcome = report.carried_out ? "carriedOut" : facts_.dry_run ? "planned" : "dropped";
        if (decision.evictions.empty()) decision.certificate.reset();
        for (const Placement& placement : decision.placements)
            starts_[placement.uid] = number;
        fresh.push_back(describe(report.cluster, report.plan, decision, facts_.origin));
        for (const Eviction& eviction : decision.evictions)
            lives_.evicted(eviction.uid, report.cluster, eviction, decision.id, report.now);
        health_.evictions_in_all += std::ssize(decision.evictions);
        ++health_.decisions_in_all;
    }
    if (fresh.empty()) return;
    explain_later(report, fresh);
    const std::lock_guard lock(mutex_);
    // Those that evict stand first in a plan, and so they do here.
    for (auto& entry : fresh | std::views::reverse)
        decisions_.push_front(std::move(entry));
    forget_old_decisions();
    decisions_changed_ = true;
}

void LoopSource::note_promises(const CycleReport& report) {
    for (const Placement& placement : report.plan.placements) {
        if (placement.after_evictions) lives_.promised(placement.uid, placement.node, report.now);
    }
}

// Now, while the cluster is as the plan saw it: later nobody could say.
void LoopSource::explain_later(const CycleReport& report, const std::vector<std::shared_ptr<DecisionEntry>>& fresh) {
    std::vector<std::shared_ptr<DecisionEntry>> evicting;
    for (const auto& entry : fresh) {
        if (entry->evicts) evicting.push_back(entry);
    }
    const char* missing =
        "This decision was not explained when it was made; a record can explain it later (run --record).";
    const bool small = report.cluster.snapshot().pods.size() <= kAlwaysExplained;
    std::unique_lock lock(mutex_);
    const bool busy = explaining_.size() >= kCopiesAtOnce;
    lock.unlock();
    for (std::size_t i = 0; i < evicting.size(); ++i) {
        const bool explained = i < kExplainedAtOnce && !busy && (small || watched());
        evicting[i]->no_why = explained ? "It is being worked out; look again in a moment." : missing;
    }
    if (busy || evicting.empty() || !(small || watched())) return;
    evicting.resize(std::min(evicting.size(), kExplainedAtOnce));
    auto copy = start_copy(
        [&]() -> Result<std::string> {
            OrderedJson all = OrderedJson::object();
            Scene scene{cluster_, report.plan, config_};
            for (const auto& entry : evicting) {
                std::vector<std::string> victims;
                const OrderedJson row = OrderedJson::parse(entry->row);
                for (const auto& eviction : row["evictions"])
                    victims.push_back(eviction["pod"]);
                const auto why = why_document(scene, entry->owner, victims);
                if (why) all[entry->id] = OrderedJson::parse(*why);
            }
            return all.dump();
        },
        {.cancelled = &closing_});
    if (!copy) return;
    Pending pending{.ids = {}, .answer = std::move(*copy)};
    for (const auto& entry : evicting)
        pending.ids.push_back(entry->id);
    lock.lock();
    explaining_.push_back(std::move(pending));
    lock.unlock();
    to_explain_.notify_one();
}

// On a thread of its own: takes over what copies have found out.
void LoopSource::collect_whys() {
    std::unique_lock lock(mutex_);
    while (true) {
        to_explain_.wait(lock, [&] { return closing_ || !explaining_.empty(); });
        if (closing_) return;
        Pending& pending = explaining_.front();
        lock.unlock();
        const Result<std::string> answer = pending.answer.wait();
        const OrderedJson all = answer ? OrderedJson::parse(*answer) : OrderedJson::object();
        lock.lock();
        for (const std::string& id : pending.ids) {
            const auto entry = std::ranges::find(decisions_, id, [](const auto& e) { return e->id; });
            if (entry == decisions_.end()) continue;
            auto copy = std::make_shared<DecisionEntry>(**entry);
            if (all.contains(id)) copy->why = all[id].dump();
            copy->no_why = answer ? "" : answer.error().message;
            *entry = std::move(copy);
        }
        decisions_changed_ = true;
        explaining_.pop_front();
    }
}

void LoopSource::take_sample(Time now) {
    if (sampled_.is_set() && now - sampled_ < kSampleEvery) return;
    sampled_ = now;
    const Snapshot& s = cluster_.snapshot();
    for (const QueueId id : IdRange<QueueId>(s.queues.size())) {
        if (!s.queues[id].alive) continue;
        Sample sample{.at = now, .queue = queue_name(s, id), .used = {}};
        for (std::size_t dim = 0; dim < s.dims; ++dim) {
            const std::int64_t used = s.now.queue_used(id, Dim(dim));
            if (Dim(dim) != kPods) sample.used[std::string(s.words->text(Dim(dim)))] = used;
        }
        samples_.push_back(std::move(sample));
    }
    while (samples_.size() > kSamplesKept)
        samples_.pop_front();
}

std::string LoopSource::samples_json() const {
    OrderedJson out = OrderedJson::array();
    for (const Sample& sample : samples_) {
        OrderedJson entry{{"at", format_time(sample.at)}};
        put(entry, "queue", sample.queue);
        entry["used"] = OrderedJson::object();
        for (const auto& [resource, amount] : sample.used)
            entry["used"][resource] = amount;
        out.push_back(std::move(entry));
    }
    return out.dump();
}

bool LoopSource::watched() const {
    const std::lock_guard lock(mutex_);
    return ended_ || Clock::now() - asked_ < kLooksFor;
}

// REQUIRES: the loop's thread, and a snapshot that is as the facts are.
void LoopSource::publish(Time now, bool always) {
    const Clock::time_point instant = Clock::now();
    if (!stale_ || !watched() || (!always && instant - published_ < kPublishEvery)) return;
    published_ = instant;
    stale_ = false;
    if (facts_.leads) health_.leads = facts_.leads();
    if (facts_.synced) health_.synced = facts_.synced();
    auto next = std::make_shared<Moment>();
    next->now = now;
    next->summary = summary_document(cluster_, plan_, health_, "loop");
    next->waiting = waiting_document(cluster_, plan_);
    next->queues = queues_document(cluster_, plan_, taken_, samples_json());
    std::set<StringId> in_use;
    const Snapshot& s = cluster_.snapshot();
    for (const PodId id : IdRange<PodId>(s.pods.size())) {
        if (s.pods[id].state != PodState::kAbsent) in_use.insert(cluster_.pod(id).ns);
    }
    std::set<std::string> names;
    for (const StringId ns : in_use)
        names.insert(cluster_.words().str(ns));
    const std::lock_guard lock(mutex_);
    namespaces_ = std::move(names);
    write_starts();
    next->serial = moment_->serial + 1;
    next->decisions.assign(decisions_.begin(), decisions_.end());
    decisions_changed_ = false;
    moment_ = std::move(next);
    changed_.notify_all();
}

std::set<std::string> LoopSource::namespaces() const {
    const std::lock_guard lock(mutex_);
    return namespaces_;
}

void LoopSource::on_turn(const Cluster&, Time now) {
    {
        const std::lock_guard lock(mutex_);
        if (decisions_changed_) stale_ = true;
    }
    publish(now, false);
    serve_requests();
}

void LoopSource::loop_ended() {
    health_.loop = "stopped";
    stale_ = true;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    publish(cluster_.snapshot().now_time, true);
    serve_requests();
}

void LoopSource::serve_requests() {
    std::unique_lock lock(mutex_);
    while (!requests_.empty()) {
        Request* request = requests_.front();
        requests_.pop_front();
        request->answer = start_copy(request->work, {});
        request->taken = true;
        changed_.notify_all();
    }
}

Result<std::shared_ptr<const Moment>> LoopSource::moment(std::optional<Time>) {
    std::unique_lock lock(mutex_);
    const bool long_unseen = Clock::now() - asked_ > kLooksFor;
    asked_ = Clock::now();
    // Nobody looked for a while: what is there is old, and the loop is about to make it new.
    const std::int64_t seen = moment_->serial;
    if ((long_unseen || seen == 0) && !ended_)
        changed_.wait_for(lock, std::chrono::seconds(1), [&] { return moment_->serial != seen || closing_ || ended_; });
    if (decisions_changed_ && ended_) {
        auto next = std::make_shared<Moment>(*moment_);
        ++next->serial;
        next->decisions.assign(decisions_.begin(), decisions_.end());
        decisions_changed_ = false;
        moment_ = std::move(next);
    }
    if (moment_->serial == 0) return fail("the cluster has not been read yet", ErrorKind::kNotNow);
    return moment_;
}

Result<std::string> LoopSource::in_a_copy(const std::function<Result<std::string>()>& work) {
    std::unique_lock lock(mutex_);
    asked_ = Clock::now();
    Request request{.work = work, .answer = fail("")};
    if (ended_) {
        request.answer = start_copy(work, {});
    } else {
        requests_.push_back(&request);
        changed_.wait_for(lock, kAnswerIn, [&] { return request.taken || ended_; });
        if (!request.taken) {
            std::erase(requests_, &request);
            if (!ended_) return fail("the loop is busy; ask again", ErrorKind::kNotNow);
            request.answer = start_copy(work, {});
        }
    }
    lock.unlock();
    if (!request.answer) return std::unexpected(request.answer.error());
    return request.answer->wait();
}

Result<std::string> LoopSource::ask(std::optional<Time>, const Question& question) {
    return in_a_copy([&]() -> Result<std::string> {
        const Time now = cluster_.snapshot().now_time;
        if (auto fresh = cluster_.refresh(now); !fresh) return std::unexpected(fresh.error());
        SchedulerConfig config = config_;
        config.search_threads = 1;
        Plan plan = run_cycle(cluster_, config);
        plan.now = now;
        Scene scene{cluster_, plan, config};
        return question(scene);
    });
}

Result<std::string> LoopSource::room(std::optional<Time>) {
    return in_a_copy([&]() -> Result<std::string> { return room_document(cluster_, plan_); });
}

Result<std::string> LoopSource::lifelines(std::optional<Time>, const std::string& queue) {
    return in_a_copy([&]() -> Result<std::string> { return lifelines_document(cluster_, {}, queue, lives_); });
}

std::int64_t LoopSource::newest(std::int64_t seen, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    asked_ = Clock::now();
    if (moment_->serial == seen) changed_.wait_for(lock, wait, [&] { return moment_->serial != seen || closing_; });
    return moment_->serial;
}

}  // namespace reprieve::window
