#include "explain/stability.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explain/closed_world.h"

namespace reprieve {
namespace {

constexpr int kQuietCycles = 2;

const std::string& demand_of(const Placement& p) { return p.owner.empty() ? p.pod : p.owner; }

// Whom the first plan promised room, unless somebody higher has taken it away since. What became possible only by the
// first plan is no such thing.
std::set<std::string> still_promised(const Plan& first, const Plan& second) {
    std::set<std::string> promised;
    for (const Placement& p : first.placements)
        promised.insert(demand_of(p));
    for (const std::string& pod : second.nominations_cleared) {
        const auto placed = std::ranges::find(first.placements, pod, &Placement::pod);
        if (placed != first.placements.end()) promised.erase(demand_of(*placed));
    }
    return promised;
}

bool changes_something(const Plan& plan) {
    return !plan.evictions.empty() ||
           std::ranges::any_of(plan.placements, [](const Placement& p) { return !p.after_evictions; });
}

class StabilityCheck {
public:
    StabilityCheck(Cluster& cluster, const SchedulerConfig& config, const StabilityOptions& options)
        : cluster_(cluster),
          config_(config),
          options_(options) {}

    StabilityReport run() {
        after_first_plan(false, "while its victims leave");
        after_first_plan(true, "after its victims have come back");
        come_to_rest();
        return std::move(report_);
    }

private:
    Plan plan(ClosedWorld& world) {
        Plan plan = world.plan(config_);
        if (options_.watch) options_.watch(cluster_, plan);
        return plan;
    }

    void after_first_plan(bool victims_return, const char* when) {
        ClosedWorld world(cluster_);
        const Plan first = plan(world);
        if (first.evictions.empty()) return;
        world.follow(first);
        if (victims_return) {
            world.let_victims_go();
            world.return_victims();
        }
        const Plan second = plan(world);
        const std::set<std::string> promised = still_promised(first, second);
        for (const Eviction& e : second.evictions) {
            if (promised.contains(e.owner))
                report_.violations.push_back(
                    fmt::format("{} is evicted for {} {}, although it was promised room before", e.pod, e.owner, when));
        }
    }

    void come_to_rest() {
        ClosedWorld world(cluster_);
        int quiet = 0;
        while (report_.cycles < options_.cycles && quiet < kQuietCycles) {
            const Plan next = plan(world);
            ++report_.cycles;
            report_.evictions += std::ssize(next.evictions);
            world.follow(next);
            const bool left = world.let_victims_go();
            world.return_victims();
            quiet = left || changes_something(next) ? 0 : quiet + 1;
        }
        report_.at_rest = quiet == kQuietCycles;
        if (!report_.at_rest)
            report_.violations.push_back(fmt::format(
                "after {} cycles pods are still being moved about ({} evictions)", report_.cycles, report_.evictions));
    }

    Cluster& cluster_;
    const SchedulerConfig& config_;
    const StabilityOptions& options_;
    StabilityReport report_;
};

}  // namespace

StabilityReport check_stability(Cluster& cluster, const SchedulerConfig& config, const StabilityOptions& options) {
    return StabilityCheck(cluster, config, options).run();
}

}  // namespace reprieve
