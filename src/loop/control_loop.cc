#include "loop/control_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "actions/cycle.h"
#include "audit/audit.h"
#include "base/check.h"
#include "loop/blame.h"
#include "loop/intents.h"
#include "loop/plan_id.h"
#include "loop/wakeup.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

constexpr std::size_t kBatch = 50'000;  // changes taken in before a cycle, if they keep coming
constexpr Duration kDrainStep{100'000};
constexpr Duration kDrainTime{5'000'000};
constexpr int kMostPlans = 8;      // in one cycle, before the one that evicts nobody
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
      claims_(options_.config),
      rest_(options_.rest) {}

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

// Asked after `leads`: whoever leads again has to have heard of the facts since.
bool ControlLoop::is_current() const { return !options_.is_current || options_.is_current(); }

bool ControlLoop::may_plan() const { return relevant_ && synced_ && leads() && is_current(); }

Duration ControlLoop::resting() const { return rest_.left(std::chrono::steady_clock::now(), urgent_); }

// How long there is nothing to do unless something changes.
Duration ControlLoop::patience(Time now) const {
    if (may_plan()) return std::min(resting(), options_.longest_wait);
    Duration wait = options_.longest_wait;
    const auto until = [&](Time due) {
        if (due.is_set()) wait = std::clamp(due - now, Duration{0}, wait);
    };
    until(beliefs_.next_review());
    // Whoever does not lead, or does not know what has happened, plans nothing, however late it is.
    if (leads() && is_current()) {
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
        if (awaited_.hear(change, cluster_.words())) urgent_ = true;
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
        // What was so already was no step.
        if (!report.ok || report.tried) observer_.on_step(report, source_.now());
        if (!report.ok) ++counts_.failed_steps;
        retry_.hear(report, source_.now());
        if (beliefs_.hear(report, source_.now())) relevant_ = true;
    }
}

void ControlLoop::refresh(Time now) {
    const auto refreshed = cluster_.refresh(now);
    REPRIEVE_CHECK(refreshed.has_value(), "facts from a watch are left out one by one, never refused together");
    fresh_ = true;
}

void ControlLoop::forget() {
    if (!options_.forgets || !fresh_ || !cluster_.wants_sweep()) return;
    cluster_.sweep([this](WordMarks& marks) { beliefs_.mark(marks); });
    ++counts_.sweeps;
}

void ControlLoop::cycle(Time now) {
    const auto start = std::chrono::steady_clock::now();
    decide(now);
    forget();
    rest_.planned(start, std::chrono::steady_clock::now());
}

Plan ControlLoop::make_plan(const SchedulerConfig& config, CycleInputs& inputs, Time now) {
    inputs.overdue = claims_.overdue(now);
    inputs.first = deferred_;
    inputs.reached = -1;
    CycleLimit limit{.is_over = {}, .first = deferred_};
    std::int64_t asked = 0;
    if (options_.cycle_budget.us > 0) {
        const auto start = std::chrono::steady_clock::now();
        limit.is_over = [start, budget = options_.cycle_budget, &asked, &inputs] {
            // Whatever the budget, one demand is served: else none ever is.
            const bool over = asked > 0 && since(start) > budget;
            if (over && inputs.reached < 0) inputs.reached = asked;
            ++asked;
            return over;
        };
    }
    Plan plan = run_cycle(cluster_, config, {}, inputs.overdue, limit);
    plan.id = plan_id(cluster_, options_.config_text, {}, now);
    record_intents(plan, cluster_, options_.beliefs.patience);
    release_claims(plan, cluster_);
    return plan;
}

std::vector<Violation> ControlLoop::judge(const Plan& plan) const {
    if (!does_something(plan)) return {};
    return options_.judge ? options_.judge(cluster_, plan, options_.config) : audit(cluster_, plan, options_.config);
}

// Plans until a plan breaks no rule. Each turn sets aside the demands that are to blame; where nobody is, or it goes on
// for too long, the last resort is a plan that evicts nobody.
ControlLoop::Judged ControlLoop::plan_soundly(Time now) {
    Judged out;
    for (int tries = 0; tries <= kMostPlans; ++tries) {
        SchedulerConfig config = options_.config;
        const bool last_resort = tries == kMostPlans;
        if (last_resort) {
            config.actions.emplace();
            config.actions->push_back({.kind = ActionKind::kAllocate});
        }
        auto start = std::chrono::steady_clock::now();
        out.inputs.last_resort = last_resort;
        out.plan = make_plan(config, out.inputs, now);
        out.planning.us += since(start).us;
        start = std::chrono::steady_clock::now();
        const std::vector<Violation> violations = judge(out.plan);
        out.auditing.us += since(start).us;
        out.sound = violations.empty();
        if (out.sound) break;
        ++counts_.audit_failures;
        out.violations.insert(out.violations.end(), violations.begin(), violations.end());
        const auto blamed = who_is_to_blame(cluster_, out.plan, violations);
        if (blamed.empty()) {
            if (!last_resort) tries = kMostPlans - 1;
            continue;
        }
        for (const auto& [owner, violation] : blamed) {
            set_aside(owner, *violation, now);
            out.refused.push_back(owner);
        }
        refresh(now);
    }
    std::ranges::sort(out.refused);
    return out;
}

void ControlLoop::set_aside(const std::string& owner, const Violation& violation, Time now) {
    const std::string why = fmt::format("a plan for {} broke a rule and was not carried out ({}: {} {})",
                                        owner,
                                        violation.rule,
                                        violation.object,
                                        violation.what);
    const Snapshot& s = cluster_.snapshot();
    std::vector<PodId> pods;
    if (const PodId single = pod_named(cluster_, owner)) pods.push_back(single);
    for (const PodId pod : cluster_.pending()) {
        if (s.pods[pod].gang && s.gang_name(s.pods[pod].gang) == owner) pods.push_back(pod);
    }
    for (const PodId pod : pods)
        beliefs_.set_aside(pod, why, now);
}

void ControlLoop::decide(Time now) {
    relevant_ = false;
    urgent_ = false;
    wakeup_ = {};
    retry_.planned();
    const auto start = std::chrono::steady_clock::now();
    refresh(now);
    const Duration refreshing = since(start);
    const Judged judged = plan_soundly(now);
    const Plan& plan = judged.plan;
    claims_.take(plan, cluster_);
    awaited_.take(plan);
    deferred_ = {plan.deferred.begin(), plan.deferred.end()};
    relevant_ = !deferred_.empty();

    standing_ = changes_since_ == 0 && plan.matches == matches_ ? standing_ + 1 : 0;
    matches_ = plan.matches;

    const bool acts = judged.sound && !options_.dry_run && does_something(plan);
    const std::vector<Eviction> news = judged.sound ? news_.take(plan) : plan.evictions;
    observer_.on_cycle({.number = ++counts_.cycles,
                        .now = now,
                        .plan = plan,
                        .cluster = cluster_,
                        .news = news,
                        .violations = judged.violations,
                        .refused = judged.refused,
                        .sound = judged.sound,
                        .refreshing = refreshing,
                        .planning = judged.planning,
                        .auditing = judged.auditing,
                        .whole = since(start),
                        .sweeps = counts_.sweeps,
                        .changes = std::exchange(changes_since_, 0),
                        .carried_out = acts,
                        .inputs = judged.inputs});
    tell_warnings(plan, now);
    wakeup_ = next_wakeup(cluster_, plan, options_.config, standing_ > kMostStanding);
    if (options_.resync.us > 0 && !plan.unplaced.empty()) {
        const Time resync = now + options_.resync;
        if (!wakeup_.is_set() || resync < wakeup_) wakeup_ = resync;
    }
    if (acts)
        carry_out(plan, now);
    else if (judged.sound && !options_.dry_run)
        sink_.carry_out(plan);  // nothing to do, but there may be something to tell
}

void ControlLoop::tell_warnings(const Plan& plan, Time now) {
    if (!options_.tells_warnings) return;
    std::set<std::string> warnings(plan.warnings.begin(), plan.warnings.end());
    for (const std::string& warning : warnings) {
        if (!warned_.contains(warning)) observer_.on_trouble(warning, now);
    }
    warned_ = std::move(warnings);
}

void ControlLoop::carry_out(const Plan& plan, Time now) {
    // Assumed first: reports may come back before this returns.
    beliefs_.assume(plan, now);
    sink_.carry_out(plan);
    hear();
    refresh(now);
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
