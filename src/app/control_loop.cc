#include "app/control_loop.h"

#include <algorithm>
#include <chrono>

#include "actions/cycle.h"
#include "app/inputs.h"
#include "app/intents.h"
#include "app/wakeup.h"
#include "audit/audit.h"

namespace reprieve {
namespace {

constexpr std::size_t kBatch = 50'000;  // changes taken in before a cycle, if they keep coming
constexpr Duration kDrainStep{100'000};
constexpr Duration kDrainTime{5'000'000};
constexpr int kMostStanding = 32;  // by then every timeout of a claim has passed several times

Duration since(std::chrono::steady_clock::time_point start) {
    return {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count()};
}

bool does_something(const Plan& plan) {
    return !(plan.placements.empty() && plan.evictions.empty() && plan.nominations_cleared.empty() &&
             plan.scale.empty() && plan.force_deletes.empty() && plan.annotations.empty());
}

}  // namespace

ControlLoop::ControlLoop(Cluster& cluster, Source& source, Sink& sink, LoopObserver& observer, LoopOptions options)
    : cluster_(cluster),
      source_(source),
      sink_(sink),
      observer_(observer),
      options_(std::move(options)),
      beliefs_(cluster, options_.beliefs),
      claims_(options_.config) {}

LoopEnd ControlLoop::run() {
    while (true) {
        if (const auto end = turn()) return *end;
    }
}

std::optional<LoopEnd> ControlLoop::turn() {
    if (options_.stopped && options_.stopped()) {
        drain();
        return LoopEnd::kStopped;
    }
    const bool alive = poll();
    observer_.on_pulse();
    hear();
    const Time now = source_.now();
    if (beliefs_.review(now)) relevant_ = true;
    for (const Time due : {wakeup_, retry_.due()}) {
        if (due.is_set() && due <= now) relevant_ = true;
    }
    const bool plans = may_plan() && resting().us == 0;
    if (plans) cycle(now);
    if (fresh_) observer_.on_turn(cluster_, source_.now());
    if (options_.cycles > 0 && counts_.cycles >= options_.cycles) {
        drain();
        return LoopEnd::kCyclesDone;
    }
    if (!alive && !plans && !(leads() && retry_.due().is_set())) return LoopEnd::kWorldEnded;
    return std::nullopt;
}

bool ControlLoop::leads() const { return !options_.leads || options_.leads(); }

bool ControlLoop::may_plan() const { return relevant_ && synced_ && leads(); }

Duration ControlLoop::resting() const {
    const auto left = rested_ - std::chrono::steady_clock::now();
    // Rounded up: a wait that ends too early is a turn for nothing.
    return {std::max<std::int64_t>(std::chrono::ceil<std::chrono::microseconds>(left).count(), 0)};
}

// How long there is nothing to do unless something changes.
Duration ControlLoop::patience(Time now) const {
    if (may_plan()) return std::min(resting(), options_.longest_wait);
    Duration wait = options_.longest_wait;
    const auto until = [&](Time due) {
        if (due.is_set()) wait = std::clamp(due - now, Duration{0}, wait);
    };
    until(beliefs_.next_review());
    // Whoever does not lead plans nothing, however late it is.
    if (leads()) {
        until(wakeup_);
        until(retry_.due());
    }
    return wait;
}

bool ControlLoop::poll() {
    changes_.clear();
    bool alive = source_.poll(changes_, patience(source_.now()));
    synced_ = synced_ || alive;
    // What is there already belongs to the same cycle.
    for (std::size_t had = 0; alive && had < changes_.size() && changes_.size() < kBatch;) {
        had = changes_.size();
        alive = source_.poll(changes_, Duration{0});
    }
    const Time now = source_.now();
    for (Change& change : changes_) {
        observer_.on_change(change, cluster_, now);
        if (beliefs_.take(std::move(change), now)) relevant_ = true;
    }
    changes_since_ += changes_.size();
    counts_.changes += static_cast<std::int64_t>(changes_.size());
    return alive;
}

void ControlLoop::hear() {
    reports_.clear();
    sink_.collect(reports_);
    for (const SinkReport& report : reports_) {
        observer_.on_step(report, source_.now());
        if (!report.ok) ++counts_.failed_steps;
        retry_.hear(report, source_.now());
        if (beliefs_.hear(report, source_.now())) relevant_ = true;
    }
}

bool ControlLoop::refresh(Time now) {
    const auto refreshed = cluster_.refresh(now);
    fresh_ = refreshed.has_value();
    if (fresh_) return true;
    ++counts_.refused_facts;
    observer_.on_trouble(refreshed.error().message, now);
    return false;
}

void ControlLoop::cycle(Time now) {
    const auto start = std::chrono::steady_clock::now();
    decide(now);
    const Duration rest{std::min(since(start).us * options_.rest, options_.rest_most.us)};
    rested_ = std::chrono::steady_clock::now() + std::chrono::microseconds(rest.us);
}

void ControlLoop::decide(Time now) {
    relevant_ = false;
    wakeup_ = {};
    retry_.planned();
    if (!refresh(now)) return;
    const auto start = std::chrono::steady_clock::now();
    Plan plan = run_cycle(cluster_, options_.config, {}, claims_.overdue(now));
    claims_.take(plan, cluster_);
    const Duration planning = since(start);
    plan.id = plan_id(cluster_, options_.config_text, {}, now);
    record_intents(plan, cluster_, options_.beliefs.patience);

    standing_ = changes_since_ == 0 && plan.matches == matches_ ? standing_ + 1 : 0;
    matches_ = plan.matches;

    std::vector<Violation> violations;
    if (does_something(plan)) violations = audit(cluster_, plan, options_.config);
    if (!violations.empty()) ++counts_.audit_failures;
    const bool acts = violations.empty() && !options_.dry_run && does_something(plan);
    const std::vector<Eviction> news = violations.empty() ? news_.take(plan) : plan.evictions;
    observer_.on_cycle({.number = ++counts_.cycles,
                        .now = now,
                        .plan = plan,
                        .cluster = cluster_,
                        .news = news,
                        .violations = violations,
                        .planning = planning,
                        .changes = std::exchange(changes_since_, 0),
                        .carried_out = acts});
    wakeup_ = next_wakeup(cluster_, plan, options_.config, standing_ > kMostStanding);
    if (options_.resync.us > 0 && !plan.unplaced.empty()) {
        const Time resync = now + options_.resync;
        if (!wakeup_.is_set() || resync < wakeup_) wakeup_ = resync;
    }
    if (acts)
        carry_out(plan, now);
    else if (violations.empty() && !options_.dry_run)
        sink_.carry_out(plan);  // nothing to do, but there may be something to tell
}

void ControlLoop::carry_out(const Plan& plan, Time now) {
    // Assumed first: reports may come back before this returns.
    beliefs_.assume(plan, now);
    sink_.carry_out(plan);
    hear();
    static_cast<void>(refresh(now));
}

// What is under way is finished, within reason; what it leads to is the next loop's to see.
void ControlLoop::drain() {
    const Time end = source_.now() + kDrainTime;
    while (!sink_.idle() && source_.now() < end) {
        changes_.clear();
        if (!source_.poll(changes_, kDrainStep)) break;
        for (Change& change : changes_)
            static_cast<void>(beliefs_.take(std::move(change), source_.now()));
        hear();
    }
}

}  // namespace reprieve
