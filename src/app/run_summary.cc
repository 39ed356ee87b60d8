#include "app/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "state/pod_named.h"
#include "text/cost_words.h"
#include "text/display_text.h"
#include "text/paint.h"

namespace reprieve {
namespace {

constexpr std::size_t kOwnersShown = 8;
constexpr std::size_t kReasonsShown = 8;

std::string count_of(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string milliseconds(Duration d) { return fmt::format("{:.2f} ms", static_cast<double>(d.us) / 1000.0); }

std::string replicas_of(const std::string& deployment, std::int64_t count) {
    return fmt::format("{} of {}", count_of(static_cast<std::size_t>(count), "replica"), deployment);
}

// To the tenth of a second.
std::string rough(Duration d) { return format_duration({d.us / 100'000 * 100'000}); }

Duration middle(std::vector<Duration> values) {
    if (values.empty()) return {};
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace

// The replica that a deployment is scaled away from is deleted by its controller: only the watch tells of it.
void RunSummary::on_change(const Change& change, const Cluster& cluster, Time) {
    const auto* pod = std::get_if<Pod>(&change.object);
    if (pod == nullptr || going_.empty() || !(change.removed || pod->terminating())) return;
    note_gone(fmt::format("{}/{}", cluster.words().text(pod->ns), pod->name));
}

void RunSummary::note_gone(const std::string& pod) {
    const auto found = going_.find(pod);
    if (found == going_.end()) return;
    const Asked asked = std::move(found->second);
    going_.erase(found);
    asked_.erase(asked.uid);
    if (evicted_.insert(asked.uid).second) ++evicted_for_[{asked.owner, asked.action}];
}

void RunSummary::on_cycle(const CycleReport& report) {
    if (cycles_++ == 0) start_ = report.now;
    end_ = report.now;
    planning_.push_back(report.planning);
    if (!report.violations.empty()) ++dropped_plans_;
    unplaced_ = report.plan.unplaced;
    matches_ = report.plan.matches;
    promised_.clear();
    std::ranges::copy_if(report.plan.placements, std::back_inserter(promised_), &Placement::after_evictions);
    if (!report.carried_out) return;
    count_placements(report);
    for (const Eviction& e : report.news) {
        if (e.mode == EvictionMode::kForceDelete) continue;  // it was leaving already
        if (e.mode == EvictionMode::kSoft) {
            asked_.insert(e.uid);
            continue;
        }
        if (!evicted_.contains(e.uid))
            going_.insert_or_assign(e.pod, Asked{.uid = e.uid, .owner = e.owner, .action = e.action});
    }
}

void RunSummary::count_placements(const CycleReport& report) {
    for (const Placement& p : report.plan.placements) {
        if (p.after_evictions) {
            nominated_.insert(p.uid);
            continue;
        }
        placed_.insert(p.uid);
        const PodId pod = pod_named(report.cluster, p.pod);
        if (!pod) continue;
        // What was waiting before we came has waited since then, for us.
        waits_[p.uid] = report.now - std::max(report.cluster.pod(pod).created, start_);
    }
}

void RunSummary::on_step(const SinkReport& report, Time) {
    if (report.ok) {
        if (report.step == SinkStep::kEvict) note_gone(report.pod);
        return;
    }
    ++failed_steps_;
    if (report.step == SinkStep::kEvict && !report.unsure) going_.erase(report.pod);
    if (report.step != SinkStep::kBind) return;
    placed_.erase(report.uid);
    waits_.erase(report.uid);
}

// Who waits for the same reason, in the order of the plan: those who are promised room first.
std::vector<RunSummary::WaitGroup> RunSummary::waiting_for() const {
    std::vector<WaitGroup> out;
    const auto add = [&](const std::string& name, const std::string& why, std::int64_t count) {
        auto group = std::ranges::find(out, why, &WaitGroup::why);
        if (group == out.end()) group = out.insert(out.end(), WaitGroup{.why = why, .names = {}});
        group->names.push_back(name);
        group->count += count;
    };
    for (const Placement& p : promised_)
        add(p.pod, fmt::format("promised room on {}, which is not free yet", p.node), 1);
    std::map<std::pair<std::string, std::string>, std::int64_t> matched;  // by node and deployment
    for (const Match& m : matches_)
        ++matched[{m.node, m.owner}];
    for (const auto& [where, count] : matched)
        add(replicas_of(where.second, count),
            fmt::format("promised room on {}, which is not free yet", where.first),
            count);
    for (const Unplaced& u : unplaced_) {
        const bool is_pod = !u.pod.empty();
        add(is_pod ? u.pod : replicas_of(u.owner, u.replicas), u.reason, is_pod ? 1 : u.replicas);
    }
    return out;
}

std::string RunSummary::text(const TableStyle& style) const {
    std::vector<Duration> waits;
    for (const auto& [uid, wait] : waits_)
        waits.push_back(wait);
    const auto after_evictions = static_cast<std::size_t>(
        std::ranges::count_if(placed_, [&](const std::string& uid) { return nominated_.contains(uid); }));
    const auto line = [&](const char* what, const std::string& text) {
        return fmt::format("  {} {}\n", painted(fmt::format("{:<9}", what), Paint::kBold, style.colour), text);
    };

    std::string out = fmt::format(
        "{} of the cluster's time, {}\n", rough(end_ - start_), count_of(static_cast<std::size_t>(cycles_), "cycle"));
    out += line("placed",
                count_of(placed_.size(), "pod") +
                    (after_evictions > 0 ? fmt::format(", {} of them after evictions", after_evictions) : ""));
    if (!waits.empty())
        out += line(
            "waited",
            fmt::format("{} in the middle, {} at most", rough(middle(waits)), rough(*std::ranges::max_element(waits))));
    out += line("evicted", count_of(evicted_.size(), "pod"));
    std::vector<std::pair<std::pair<std::string, std::string>, int>> owners(evicted_for_.begin(), evicted_for_.end());
    std::ranges::stable_sort(owners, [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < owners.size() && i < kOwnersShown; ++i) {
        const auto& [owner, action] = owners[i].first;
        const std::string whom = owner.empty() ? "their queues" : neutral(owner);
        out += fmt::format("            {} for {} ({})\n", owners[i].second, whom, action);
    }
    if (owners.size() > kOwnersShown) out += fmt::format("            and for {} more\n", owners.size() - kOwnersShown);
    if (!asked_.empty()) out += line("asked", count_of(asked_.size(), "pod") + " to leave, and did not delete");
    const std::vector<WaitGroup> groups = waiting_for();
    const auto replicas = std::accumulate(
        unplaced_.begin(), unplaced_.end(), std::ssize(matches_), [](std::int64_t sum, const Unplaced& u) {
            return sum + (u.pod.empty() ? u.replicas : 0);
        });
    const auto waiting =
        std::accumulate(groups.begin(), groups.end(), std::int64_t{0}, [](std::int64_t sum, const WaitGroup& g) {
            return sum + g.count;
        });
    const std::string waiting_pods = count_of(static_cast<std::size_t>(waiting - replicas), "pod");
    const std::string waiting_replicas = count_of(static_cast<std::size_t>(replicas), "replica");
    out += line("waiting",
                replicas == 0         ? waiting_pods
                : waiting == replicas ? waiting_replicas
                                      : fmt::format("{} and {}", waiting_pods, waiting_replicas));
    std::int64_t told = 0;
    for (std::size_t i = 0; i < groups.size() && i < kReasonsShown; ++i) {
        out += fmt::format("            {}: {}\n", neutral(list_words(groups[i].names)), neutral(groups[i].why));
        told += groups[i].count;
    }
    if (waiting > told) out += fmt::format("            and {} more\n", waiting - told);
    if (!planning_.empty())
        out += line("planning",
                    fmt::format("{} in the middle, {} at most, each cycle",
                                milliseconds(middle(planning_)),
                                milliseconds(*std::ranges::max_element(planning_))));
    if (failed_steps_ > 0) out += line("failed", count_of(failed_steps_, "step"));
    if (dropped_plans_ > 0)
        out += line("dropped", count_of(dropped_plans_, "plan") + " that broke a rule: this is a defect of reprieve");
    return out;
}

}  // namespace reprieve
