// Worlds drawn at random: nodes nearly full of pods of several priorities, and one or two demands that mostly need
// somebody to go. Each world draws one to three rules; labels are few, so that rules meet the pods they speak of.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "draw.h"
#include "world.h"

namespace reprieve::worlds {
namespace {

using oracle::Draw;

constexpr int kApps = 3;
constexpr int kMostPods = 9;

class Maker {
public:
    explicit Maker(std::uint64_t number) : draw_(number) { out_.number = number; }

    World run() {
        draw_rules();
        add_nodes();
        if (has(Rule::kGangVictims)) add_running_gangs();
        while (std::ssize(out_.pods) < wanted_pods_ && add_running_pod(-1, draw_level())) {
        }
        add_budgets();
        add_demand(0);
        if (has(Rule::kTwoDemands)) add_demand(1);
        return std::move(out_);
    }

private:
    [[nodiscard]] bool has(Rule rule) const { return std::ranges::find(out_.rules, rule) != out_.rules.end(); }

    void draw_rules() {
        const int count = draw_.one_of({1, 1, 2, 2, 2, 3});
        while (std::ssize(out_.rules) < count) {
            const auto rule = static_cast<Rule>(draw_.number(0, kRules - 1));
            if (!has(rule)) out_.rules.push_back(rule);
        }
        std::ranges::sort(out_.rules);
        out_.strict_budgets = has(Rule::kStrictBudgets);
        wanted_pods_ = draw_.number(3, kMostPods);
    }

    void add_nodes() {
        const int count = draw_.one_of({2, 2, 3, 3, 4, 5});
        // With room for about as many pods as are wanted, so that little stays free.
        const int most = std::max(2, 2 * wanted_pods_ / count);
        for (int n = 0; n < count; ++n) {
            const bool anywhere = !has(Rule::kZoneAffinity) && draw_.chance(4);
            out_.nodes.push_back({.name = fmt::format("n{}", n),
                                  .zone = anywhere ? -1 : n % 2,
                                  .cpu = draw_.number(2, most),
                                  .pods = draw_.chance(5) ? 3 : 110});
            free_.push_back(out_.nodes.back().cpu);
            seats_.push_back(out_.nodes.back().pods);
        }
    }

    int draw_level() { return draw_.one_of({0, 0, 0, 5, 10, 10, 50, 90, 300}); }

    // A node with so much room; none: nullopt.
    std::optional<int> seat(int cpu) {
        std::vector<int> open;
        for (int n = 0; n < static_cast<int>(free_.size()); ++n) {
            if (free_[static_cast<std::size_t>(n)] >= cpu && seats_[static_cast<std::size_t>(n)] > 0) open.push_back(n);
        }
        if (open.empty()) return std::nullopt;
        return open[static_cast<std::size_t>(draw_.number(0, static_cast<int>(open.size()) - 1))];
    }

    bool add_running_pod(int gang, int priority) {
        int cpu = draw_.one_of({1, 1, 2, 2, 3});
        auto node = seat(cpu);
        if (!node) node = seat(cpu = 1);
        if (!node) return false;
        WorldPod pod{.name = fmt::format("p{}", out_.pods.size()),
                     .traits = {.app = draw_.number(0, kApps - 1), .cpu = cpu, .priority = priority},
                     .node = *node,
                     .gang = gang,
                     .start = draw_.number(0, 30000),
                     .is_protected = draw_.chance(4)};
        add_rules(pod.traits, 25, true);
        if (taken(*node, pod.traits.port)) pod.traits.port = 0;
        free_[static_cast<std::size_t>(*node)] -= cpu;
        --seats_[static_cast<std::size_t>(*node)];
        out_.pods.push_back(std::move(pod));
        return true;
    }

    [[nodiscard]] bool taken(int node, int port) const {
        return std::ranges::any_of(out_.pods,
                                   [&](const WorldPod& pod) { return pod.node == node && pod.traits.port == port; });
    }

    void add_running_gangs() {
        const int gangs = draw_.number(1, 2);
        for (int g = 0; g < gangs; ++g) {
            const int id = static_cast<int>(out_.gangs.size());
            out_.gangs.push_back({.name = fmt::format("run{}", g),
                                  .kind = draw_.one_of({GangKind::kVolcano,
                                                        GangKind::kVolcano,
                                                        GangKind::kVolcano,
                                                        GangKind::kCoreAll,
                                                        GangKind::kCoreSingle})});
            const int priority = draw_level();
            const int wanted = draw_.number(2, 4);
            int members = 0;
            while (members < wanted && add_running_pod(id, priority))
                ++members;
            // From one that can spare all but one member to one that lacks a member.
            out_.gangs.back().min = std::max(1, members + draw_.one_of({-2, -1, -1, 0, 0, 1}));
        }
    }

    void add_budgets() {
        if (!has(Rule::kStrictBudgets) && !has(Rule::kBudgets)) return;
        for (int app = 0; app < kApps; ++app) {
            if (draw_.chance(60)) out_.budgets.push_back({.app = app, .allowed = draw_.one_of({0, 0, 1, 1, 2})});
        }
    }

    Spread draw_spread(Level level) {
        return {.level = level,
                .max_skew = draw_.one_of({1, 1, 2}),
                .min_domains = draw_.chance(20) ? draw_.number(1, 3) : 0,
                .app = draw_.number(0, kApps - 1)};
    }

    // Each rule of the world that a pod can have, with that chance. Running pods keep away from others or hold ports;
    // what they were placed by otherwise binds nobody any more.
    void add_rules(Traits& traits, int percent, bool running) {
        const auto wants = [&](Rule rule) { return has(rule) && draw_.chance(percent); };
        if (!running && wants(Rule::kHostAffinity))
            traits.near.push_back({.anti = false, .level = Level::kHost, .app = draw_.number(0, kApps - 1)});
        else if (!running && wants(Rule::kZoneAffinity))
            traits.near.push_back({.anti = false, .level = Level::kZone, .app = draw_.number(0, kApps - 1)});
        if (wants(Rule::kHostAntiAffinity))
            traits.near.push_back({.anti = true, .level = Level::kHost, .app = draw_.number(0, kApps - 1)});
        if (wants(Rule::kZoneAntiAffinity))
            traits.near.push_back({.anti = true, .level = Level::kZone, .app = draw_.number(0, kApps - 1)});
        if (!running && wants(Rule::kHostSpread)) traits.spreads.push_back(draw_spread(Level::kHost));
        if (!running && wants(Rule::kZoneSpread)) traits.spreads.push_back(draw_spread(Level::kZone));
        if (has(Rule::kPorts) && draw_.chance(running ? 50 : 90)) traits.port = draw_.number(8080, 8081);
    }

    void add_demand(int number) {
        const bool gang = draw_.chance(45);
        Traits traits{.app = draw_.number(0, kApps - 1),
                      .cpu = gang ? draw_.one_of({1, 1, 2, 2, 3}) : draw_.one_of({1, 2, 2, 3, 3, 4}),
                      .priority = number == 0 ? 100 : draw_.one_of({60, 95})};
        add_rules(traits, 85, false);
        if (!gang) {
            out_.pods.push_back({.name = fmt::format("want{}", number), .traits = traits, .start = 40000 + number});
            return;
        }
        const int members = draw_.number(2, 3);
        const int id = static_cast<int>(out_.gangs.size());
        out_.gangs.push_back({.name = fmt::format("want{}", number), .min = members});
        const bool mixed = draw_.chance(20);
        for (int m = 0; m < members; ++m) {
            Traits own = traits;
            if (mixed && m > 0) own.cpu = draw_.number(1, 2);
            out_.pods.push_back(
                {.name = fmt::format("want{}-{}", number, m), .traits = own, .gang = id, .start = 40000 + number});
        }
    }

    Draw draw_;
    World out_;
    int wanted_pods_ = 0;
    std::vector<int> free_;   // CPU, by node
    std::vector<int> seats_;  // pods, by node
};

}  // namespace

const char* to_text(Rule rule) {
    switch (rule) {
        case Rule::kHostAffinity:
            return "host affinity";
        case Rule::kZoneAffinity:
            return "zone affinity";
        case Rule::kHostAntiAffinity:
            return "host anti-affinity";
        case Rule::kZoneAntiAffinity:
            return "zone anti-affinity";
        case Rule::kHostSpread:
            return "host spread";
        case Rule::kZoneSpread:
            return "zone spread";
        case Rule::kPorts:
            return "host ports";
        case Rule::kStrictBudgets:
            return "strict budgets";
        case Rule::kBudgets:
            return "budgets";
        case Rule::kGangVictims:
            return "gangs as victims";
        case Rule::kTwoDemands:
            return "two demands";
    }
    return "";
}

World draw_world(std::uint64_t number) { return Maker(number).run(); }

std::vector<WorldDemand> demands_of(const World& world) {
    std::vector<WorldDemand> out;
    for (int p = 0; p < static_cast<int>(world.pods.size()); ++p) {
        const WorldPod& pod = world.pods[static_cast<std::size_t>(p)];
        if (pod.node >= 0) continue;
        const auto known =
            std::ranges::find_if(out, [&](const WorldDemand& d) { return d.gang >= 0 && d.gang == pod.gang; });
        if (known != out.end()) {
            known->pods.push_back(p);
            known->priority = std::min(known->priority, pod.traits.priority);
            continue;
        }
        WorldDemand demand{
            .name = "default/" + pod.name, .gang = pod.gang, .pods = {p}, .priority = pod.traits.priority};
        if (pod.gang >= 0) {
            const WorldGang& gang = world.gangs[static_cast<std::size_t>(pod.gang)];
            demand.name = "default/" + gang.name;
            demand.min = gang.min;
        }
        out.push_back(std::move(demand));
    }
    std::ranges::stable_sort(out, [](const WorldDemand& a, const WorldDemand& b) { return a.priority > b.priority; });
    return out;
}

}  // namespace reprieve::worlds
