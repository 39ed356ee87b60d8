#include "plugins/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/amount_text.h"
#include "state/cluster.h"

namespace reprieve {
namespace {

std::int64_t amount_of(std::span<const Resources::Amount> amounts, Dim dim) {
    const auto at = std::ranges::find(amounts, dim, &Resources::Amount::dim);
    return at == amounts.end() ? 0 : at->value;
}

bool is_quota(const Snapshot& s, QueueId queue) {
    return s.queues[queue].fact != nullptr && s.queues[queue].fact->is_quota;
}

QueueAsk ask_at(const JobAsk::Level& level) {
    return {level.queue, {level.all.begin(), level.all.end()}, {level.fixed.begin(), level.fixed.end()}};
}

}  // namespace

Limits::Limits(const Snapshot& s, const SchedulerConfig& config)
    : snapshot_(s),
      by_runtime_(config.plugins.quota.limit == QuotaLimit::kRuntime) {
    if (balances_queues(s, config))
        grants_.emplace(s, std::ranges::any_of(actions_of(config), &ActionConfig::request_by_pods));
    const auto is_tree = [](const QueueRow& row) { return row.alive && row.fact != nullptr && row.fact->is_quota; };
    if (std::ranges::none_of(s.queues, is_tree)) return;
    bool reserves = true;
    for (const ActionConfig& action : actions_of(config)) {
        kinds_.unmarked_are_fixed = kinds_.unmarked_are_fixed || action.disable_default_preemptible;
        reserves = reserves && action.reserve_for_pending_non_preemptible;
    }
    if (reserves) reserve_ = QuotaReserve(s, kinds_);
    runtime_.emplace(s);
}

bool Limits::is_bound(QueueId queue) const {
    const Queue* fact = snapshot_.queues[queue].fact;
    return (fact != nullptr && !fact->limit.empty()) || (grants_ && grants_->of(queue) != nullptr);
}

std::optional<std::int64_t> Limits::grant_of(QueueId queue, Dim dim) const {
    const QueueGrant* grant = grants_ && grants_->dims().contains(dim) ? grants_->of(queue) : nullptr;
    if (grant == nullptr) return std::nullopt;
    return grant->allocated.get(dim);
}

std::optional<std::int64_t> Limits::limit_of(QueueId queue, Dim dim) const {
    const std::optional<std::int64_t> granted = grant_of(queue, dim);
    const Queue* fact = snapshot_.queues[queue].fact;
    const std::int64_t* limit = fact == nullptr ? nullptr : fact->limit.find(dim);
    if (limit == nullptr) return granted;
    if (by_runtime_ && fact->is_quota) return std::min(*limit, runtime_->runtime(queue, dim));
    return granted ? std::min(*granted, *limit) : *limit;
}

// Non-preemptible pods stay within the minimum; a dimension it does not list does not bind them.
std::optional<Limits::Breach> Limits::minimum_breach(const Occupancy& view, const QueueAsk& ask) const {
    if (ask.fixed.empty() || !is_quota(snapshot_, ask.queue)) return std::nullopt;
    std::optional<Breach> first;
    for (const auto& [dim, value] : ask.fixed) {
        const std::int64_t* least = snapshot_.queues[ask.queue].fact->guarantee.find(dim);
        if (least == nullptr || value <= 0 || !is_said_before(dim, first)) continue;
        const std::int64_t would = saturating_add(kinds_.fixed_use(view, ask.queue, dim), value);
        if (would > *least)
            first = Breach{.queue = ask.queue, .dim = dim, .would = would, .limit = *least, .of_minimum = true};
    }
    return first;
}

std::optional<Limits::Breach> Limits::limit_breach(const Occupancy& view, const QueueAsk& ask) const {
    if (!is_bound(ask.queue)) return std::nullopt;
    std::optional<Breach> first;
    for (const auto& [dim, value] : ask.all) {
        if (value <= 0 || !is_said_before(dim, first)) continue;
        const std::optional<std::int64_t> limit = limit_of(ask.queue, dim);
        if (!limit) continue;
        const std::int64_t fixed = is_quota(snapshot_, ask.queue) ? amount_of(ask.fixed, dim) : value;
        const std::int64_t kept = value > fixed ? reserve_.kept(snapshot_, view, ask.queue, dim, fixed) : 0;
        const std::int64_t would = saturating_add(saturating_add(view.queue_used(ask.queue, dim), value), kept);
        if (would > *limit)
            first = Breach{.queue = ask.queue,
                           .dim = dim,
                           .would = would,
                           .limit = *limit,
                           .kept = kept,
                           .of_grant = grant_of(ask.queue, dim) == limit,
                           .of_runtime = by_runtime_ && limit != snapshot_.queues[ask.queue].fact->limit.get(dim)};
    }
    return first;
}

bool Limits::is_said_before(Dim dim, const std::optional<Breach>& other) const {
    return !other || snapshot_.words->comes_before(dim, other->dim);
}

std::optional<Limits::Breach> Limits::breach(const Occupancy& view, const QueueAsk& ask) const {
    const std::optional<Breach> found = minimum_breach(view, ask);
    return found ? found : limit_breach(view, ask);
}

bool Limits::admit(const Occupancy& view, PodId pod, std::span<const Resources::Amount> amounts) const {
    const QueueId queue = snapshot_.pods[pod].queue;
    if (!queue) return true;
    const auto fixed = is_fixed(pod) ? amounts : std::span<const Resources::Amount>();
    return std::ranges::none_of(snapshot_.queue_path[queue],
                                [&](QueueId q) { return breach(view, {q, amounts, fixed}).has_value(); });
}

bool Limits::admit(const Occupancy& view, PodId pod) const {
    return admit(view, pod, snapshot_.class_of(pod).requests);
}

bool Limits::admit(const Occupancy& view, const JobAsk& job) const {
    return std::ranges::none_of(job.levels, [&](const auto& level) { return breach(view, ask_at(level)).has_value(); });
}

std::string Limits::refuses_trigger(const Occupancy& view, const JobAsk& job) const {
    for (const JobAsk::Level& level : job.levels) {
        if (!is_quota(snapshot_, level.queue)) continue;
        const auto found = level.fixed == level.all ? minimum_breach(view, ask_at(level)) : breach(view, ask_at(level));
        if (found) return "it may not preempt: " + describe(*found);
    }
    return "";
}

JobAsk Limits::ask_of(std::span<const PodId> pods) const {
    JobAsk job;
    for (PodId pod : pods) {
        if (!snapshot_.pods[pod].queue) continue;
        for (QueueId q : snapshot_.queue_path[snapshot_.pods[pod].queue]) {
            auto level = std::ranges::find(job.levels, q, &JobAsk::Level::queue);
            if (level == job.levels.end()) level = job.levels.insert(level, {.queue = q, .all = {}, .fixed = {}});
            for (const auto& [dim, value] : snapshot_.class_of(pod).requests) {
                level->all.add(dim, value);
                if (is_fixed(pod)) level->fixed.add(dim, value);
            }
        }
    }
    return job;
}

std::optional<std::vector<GiveRule>> Limits::rules(const Occupancy& view, const JobAsk& job) const {
    std::vector<GiveRule> out;
    for (const JobAsk::Level& level : job.levels) {
        if (minimum_breach(view, ask_at(level))) return std::nullopt;
        for (const auto& amount : level.all) {
            const Resources::Amount fixed{amount.dim, level.fixed.get(amount.dim)};
            const auto found = limit_breach(view, {level.queue, std::span(&amount, 1), std::span(&fixed, 1)});
            if (!found) continue;
            // What is kept for others may change with those who go.
            if (found->kept > 0) return std::nullopt;
            out.push_back({.queue = level.queue,
                           .dim = amount.dim,
                           .at_least = true,
                           .amount = found->would - found->limit,
                           .givers = {}});
        }
    }
    sort_by_names(snapshot_, out);
    return out;
}

std::string Limits::describe(const Occupancy& view, const JobAsk& job) const {
    for (const JobAsk::Level& level : job.levels) {
        if (const auto found = breach(view, ask_at(level))) return describe(*found);
    }
    return "";
}

std::string Limits::describe(const Breach& found) const {
    const std::string_view queue = snapshot_.words->text(snapshot_.queues[found.queue].name);
    const std::string_view resource = snapshot_.words->text(found.dim);
    const auto text = [&](std::int64_t value) { return amount_text(resource, value); };
    if (found.of_minimum) {
        return fmt::format(
            "non-preemptible pods of queue {} are limited to its minimum, {} of {}; with this they would hold {}",
            queue,
            text(found.limit),
            resource,
            text(found.would));
    }
    std::string out = fmt::format("queue {} is {} {} of {}; with this it would hold {}",
                                  queue,
                                  found.of_grant     ? "granted"
                                  : found.of_runtime ? "limited to its runtime,"
                                                     : "limited to",
                                  text(found.limit),
                                  resource,
                                  text(found.would));
    if (found.kept > 0) out += fmt::format(", {} of it kept for non-preemptible pods that wait", text(found.kept));
    return out;
}

bool Limits::bind(PodId pod, std::span<const Resources::Amount> amounts) const {
    const QueueId queue = snapshot_.pods[pod].queue;
    if (!queue) return false;
    return std::ranges::any_of(snapshot_.queue_path[queue], [&](QueueId q) {
        const bool by_minimum = is_fixed(pod) && is_quota(snapshot_, q);
        return std::ranges::any_of(amounts, [&](const auto& a) {
            return limit_of(q, a.dim) || (by_minimum && snapshot_.queues[q].fact->guarantee.lists(a.dim));
        });
    });
}

bool Limits::exceeded(const Occupancy& view, QueueId queue, std::span<const Dim> dims, bool preemptible) const {
    return std::ranges::any_of(snapshot_.queue_path[queue], [&](QueueId q) {
        return std::ranges::any_of(dims, [&](Dim dim) {
            const std::optional<std::int64_t> limit = limit_of(q, dim);
            if (!limit) return false;
            const std::int64_t kept =
                preemptible && is_quota(snapshot_, q) ? reserve_.kept(snapshot_, view, q, dim, 0) : 0;
            return saturating_add(view.queue_used(q, dim), kept) > *limit;
        });
    });
}

bool Limits::within_grants(const Occupancy& view, std::span<const PodId> pods) const {
    return std::ranges::all_of(pods, [&](PodId pod) {
        const QueueId queue = snapshot_.pods[pod].queue;
        return !queue || std::ranges::all_of(snapshot_.class_of(pod).requests, [&](const Resources::Amount& asked) {
            const std::optional<std::int64_t> granted = asked.value > 0 ? grant_of(queue, asked.dim) : std::nullopt;
            return !granted || view.queue_used(queue, asked.dim) <= *granted;
        });
    });
}

bool Limits::shared(QueueId a, QueueId b) const {
    if (!a || !b) return false;
    const std::vector<QueueId>& other = snapshot_.queue_path[b];
    return std::ranges::any_of(snapshot_.queue_path[a],
                               [&](QueueId q) { return is_bound(q) && std::ranges::find(other, q) != other.end(); });
}

Verdict queue_takes(const Snapshot& s, PodId pod) {
    const PodRow& row = s.pods[pod];
    if (row.has(kQueueMissing) || !row.queue) {
        const Pod& fact = s.facts->pod(pod);
        const Gang* group = row.gang ? s.gangs[row.gang].fact : nullptr;
        const StringId name = fact.queue && !fact.queue_is_quota
                                  ? fact.queue
                                  : (group != nullptr && group->queue ? group->queue : fact.queue);
        const bool is_there = s.facts->queues().get(s.facts->find_queue(fact.ns, name)) != nullptr;
        return Verdict::never("queue",
                              fmt::format("queue {} {}",
                                          s.words->text(name),
                                          is_there ? "is left out: its parents form a circle" : "does not exist"));
    }
    const QueueRow& queue = s.queues[row.queue];
    if (queue.takes_pods()) return Verdict::yes();
    if (!queue.fact->open)
        return Verdict::not_now("queue", fmt::format("queue {} is not open", s.words->text(queue.name)));
    return Verdict::not_now(
        "queue", fmt::format("queue {} has child queues and takes no pods itself", s.words->text(queue.name)));
}

}  // namespace reprieve
