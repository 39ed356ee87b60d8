// Worlds drawn at random: nodes nearly full of pods of several priorities, and one or two demands that mostly need
// somebody to go. Each world draws one to three rules; labels are few, so that rules meet the pods they speak of.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "draw.h"
#include "filters.h"

namespace reprieve::worlds {
namespace {

constexpr int kApps = 3;
constexpr int kMostPods = 9;

class Maker {
public:
    explicit Maker(std::uint64_t number) : draw_(number) { out_.number = number; }

    World run() {
        draw_rules();
        add_nodes();
        add_queues();
        if (has(Rule::kGangVictims) || has(Rule::kOwnPriorities)) add_running_gangs();
        while (std::ssize(out_.pods) < wanted_pods_ && add_single()) {
        }
        if (has(Rule::kSharedClaims) && out_.by_claim) share_claims();
        add_budgets();
        add_demand(0);
        const bool several = has(Rule::kTwoDemands) && !has(Rule::kForeignFilters);
        if (several) add_demand(1);
        if (several && draw_.chance(30)) add_demand(2);
        if (has(Rule::kPartlyRunning)) start_members();
        add_claims();
        set_limits();
        // Last, so that all other worlds stay as they are.
        if (out_.by_claim && !out_.by_network) {
            if (draw_.chance(35))
                add_failing_devices();
            else if (draw_.chance(40))
                add_cards();
        }
        if (has(Rule::kLeaving)) send_away();
        if (has(Rule::kShortSearch)) shorten();
        if (has(Rule::kForeignFilters)) add_foreign();
        // Foreign worlds are planned once for each set of pods.
        if ((has(Rule::kManyNodes) || has(Rule::kAlikeNodes)) && out_.foreign == 0)
            out_.idle_nodes = 2 * draw_.number(34, 50);
        return std::move(out_);
    }

private:
    [[nodiscard]] bool has(Rule rule) const { return out_.drawn_with(rule); }
    int some_app() { return draw_.number(0, kApps - 1); }

    void draw_rules() {
        const int count = draw_.one_of({1, 1, 2, 2, 2, 3});
        while (std::ssize(out_.rules) < count) {
            const auto rule = static_cast<Rule>(draw_.number(0, kRules - 1));
            if (!has(rule)) out_.rules.push_back(rule);
        }
        // What foreign rules speak of.
        constexpr auto kNearAndFar = static_cast<int>(Rule::kPorts);
        for (int more = has(Rule::kForeignFilters) ? 2 : 0; more > 0; --more) {
            const auto rule = static_cast<Rule>(draw_.number(0, kNearAndFar));
            if (!has(rule)) out_.rules.push_back(rule);
        }
        std::ranges::sort(out_.rules);
        out_.strict_budgets = has(Rule::kStrictBudgets);
        wanted_pods_ = draw_.number(has(Rule::kAlikeNodes) ? kMostPods - 1 : 3, kMostPods);
        if (has(Rule::kForeignFilters)) wanted_pods_ = std::min(wanted_pods_, 7);
        const bool claims = has(Rule::kDeviceClaims) || has(Rule::kSharedClaims);
        out_.by_claim = claims && !has(Rule::kDeviceGroups) && !has(Rule::kShares) && !has(Rule::kForeignFilters);
        out_.by_extended_resource = out_.by_claim && draw_.chance(30) && !has(Rule::kSharedClaims);
        out_.by_network = out_.by_claim && has(Rule::kSharedClaims) && draw_.chance(35);
        if ((out_.by_claim && draw_.chance(50)) || has(Rule::kOtherCosts)) draw_cost();
        uses_memory_ = draw_.chance(25);
        milli_ = draw_.chance(50);
        // Shares of HAMi know no groups of devices.
        hami_ = has(Rule::kShares) && !has(Rule::kDeviceGroups) && draw_.chance(40);
    }

    // Orders that count units and devices early, or late.
    void draw_cost() {
        const std::vector<std::vector<std::string>> orders{
            {"pdbViolations", "gangsBroken", "resources", "pods"},
            {"resources", "gangsBroken", "maxPriority"},
            {"breaksGangs", "lostWork", "pods"},
            {"lostWork", "maxPriority", "gangsBroken"},
            {"pdbViolations", "maxPriority", "breaksGangs", "resources", "prioritySum"},
            {"gangsBroken", "prioritySum", "latestStart"},
            {"units", "resources", "pods"},
            {"maxPriority", "units", "lostWork"}};
        const bool gangs = has(Rule::kGangVictims) || has(Rule::kOwnPriorities);
        // How many units a gang is that goes whole is told by pods of gangs alone.
        out_.cost = orders[static_cast<std::size_t>(draw_.number(0, gangs ? 5 : 7))];
    }

    // Pods by themselves that terminate; what happens to claims meanwhile is another question.
    void send_away() {
        if (out_.by_claim) return;
        for (WorldPod& pod : out_.pods)
            pod.leaves = pod.node >= 0 && pod.gang < 0 && draw_.chance(30);
    }

    void add_foreign() {
        for (int kinds = draw_.number(1, 2); kinds > 0; --kinds)
            out_.foreign |= 1U << static_cast<unsigned>(draw_.number(0, kForeignKinds - 1));
        // Pods with a volume of the worlds have no other.
        if (has(Rule::kVolumes)) out_.foreign &= ~(kAttachments | kWaitingVolumes);
        if ((out_.foreign & kAttachments) != 0) out_.foreign &= ~kWaitingVolumes;
    }

    void shorten() {
        const int how = draw_.number(0, 3);
        if (how == 0) out_.literal = true;
        if (how == 1) out_.max_domains = 1;
        if (how >= 2) out_.budget = draw_.one_of({1, 5, 20, 60, 200});
    }

    // Of gangs that wait some members run already, in one domain.
    void start_members() {
        for (int g = 0; g < static_cast<int>(out_.gangs.size()); ++g) {
            Mask domain = out_.all_nodes();
            int started = 0;
            for (int p = 0; p < out_.pod_count(); ++p) {
                WorldPod& pod = out_.pods[static_cast<std::size_t>(p)];
                if (pod.gang != g || pod.node >= 0) continue;
                if (started + 1 >= out_.gang(g).min || !draw_.chance(started == 0 ? 70 : 40)) continue;
                const auto spot = seat(p, domain);
                if (!spot || taken(spot->node, pod.traits.port)) continue;
                pod.node = spot->node;
                pod.devices = spot->devices;
                pod.start = draw_.number(0, 30000);
                if (started++ == 0) domain = domain_of(g, spot->node);
            }
        }
    }

    [[nodiscard]] Mask domain_of(int gang, int node) const {
        const Together together = out_.gang(gang).together;
        Mask out = 0;
        for (int n = 0; n < out_.node_count(); ++n) {
            const bool apart = (together == Together::kRack && out_.node(n).rack != out_.node(node).rack) ||
                               (together == Together::kZone && out_.node(n).zone != out_.node(node).zone);
            if (!apart) out |= bit(n);
        }
        return out;
    }

    void add_failing_devices() {
        for (WorldNode& node : out_.nodes) {
            for (int d = 0; d < node.devices; ++d)
                node.failing |= draw_.chance(25) ? bit(d) : 0;
        }
    }

    // The devices of a node are parts of one card, which has units for those that are held, and few more.
    void add_cards() {
        for (int n = 0; n < out_.node_count(); ++n) {
            WorldNode& node = out_.nodes[static_cast<std::size_t>(n)];
            Mask held = 0;
            for (const WorldPod& pod : out_.pods)
                held |= pod.node == n ? pod.devices : 0;
            for (int d = 0; d < node.devices; ++d)
                node.large |= draw_.chance(30) ? bit(d) : 0;
            node.units = std::max(1, node.units_of(held) + draw_.one_of({0, 0, 1, 2}));
        }
    }

    // Running pods give up their own claims and use those of others.
    void share_claims() {
        for (WorldPod& pod : out_.pods) {
            if (draw_.chance(pod.traits.gpus > 0 ? 40 : 70)) {
                std::vector<const WorldPod*> owners;
                for (const WorldPod& other : out_.pods) {
                    const bool reached = other.node == pod.node || out_.by_network;
                    if (&other != &pod && other.traits.gpus > 0 && reached) owners.push_back(&other);
                }
                if (owners.empty()) continue;
                const WorldPod& owner =
                    *owners[static_cast<std::size_t>(draw_.number(0, static_cast<int>(owners.size()) - 1))];
                const bool has_users =
                    std::ranges::any_of(out_.pods, [&](const WorldPod& other) { return other.user_of == pod.name; });
                if (has_users) continue;
                pod.traits.gpus = 0;
                pod.user_of = owner.name;
                pod.devices = owner.devices;
            }
        }
    }

    void add_nodes() {
        const int count = has(Rule::kAlikeNodes) ? draw_.number(5, 8) : draw_.one_of({2, 2, 3, 3, 4, 5});
        // With room for about as many pods as are wanted, so that little stays free.
        const int most = has(Rule::kAlikeNodes) ? 2 : std::max(2, 2 * wanted_pods_ / count);
        for (int n = 0; n < count; ++n) {
            WorldNode node{.name = fmt::format("n{}", n),
                           .zone = n % 2,
                           .rack = draw_.number(0, 1),
                           .cpu = draw_.number(2, most),
                           .memory = uses_memory_ ? draw_.number(2, most) : 0,
                           .pods = draw_.chance(5) ? 3 : 110};
            // The rules of affinity and zones of gangs are told for nodes that have the label.
            const bool needs_zone = has(Rule::kZoneAffinity) || has(Rule::kMutualAffinity) || has(Rule::kTopology);
            if (!needs_zone && draw_.chance(4)) node.zone = -1;
            if (has(Rule::kDeviceGroups))
                node.devices = 4;
            else if (has(Rule::kDevices) || has(Rule::kShares) || out_.by_claim)
                node.devices = out_.by_network ? draw_.number(2, 5) : draw_.number(1, 3);
            if (!has(Rule::kDeviceGroups) && !has(Rule::kShares) && !out_.by_claim) node.describes = draw_.chance(70);
            if (hami_) node.places = draw_.number(1, 4);
            if (out_.by_network && n > 0) node.devices = out_.nodes.front().devices;
            if (has(Rule::kPools)) {
                node.pool = draw_.number(0, 1);
                node.tainted = draw_.chance(20);
                node.cordoned = draw_.chance(10);
            }
            out_.nodes.push_back(node);
        }
    }

    // Two queues of one parent, or two without one.
    void add_queues() {
        if (!has(Rule::kQueueLimits)) return;
        const bool parent = draw_.chance(30);
        out_.queues.assign(2, {.parent = parent ? 2 : -1});
        if (parent) out_.queues.push_back({});
        out_.cross_queue = draw_.chance(30);
    }

    int draw_queue() { return out_.queues.empty() ? -1 : draw_.one_of({0, 0, 0, 1}); }
    int draw_level() { return draw_.one_of({0, 0, 0, 5, 10, 10, 50, 90, 300}); }

    // Whole devices, or a share of one, where the world has devices.
    void draw_devices(Traits& traits, bool running) {
        const bool wants = draw_.chance(running ? 65 : 90);
        if (!wants) return;
        if (hami_ && draw_.chance(running ? 75 : 65)) {
            traits.counted = true;
            traits.gpu_memory = draw_.number(1, 6);
            traits.gpu_milli = draw_.chance(10) ? 1000 : 100 * draw_.number(1, 6);
        } else if (!hami_ && has(Rule::kShares) && draw_.chance(running ? 75 : 65)) {
            (milli_ ? traits.gpu_milli : traits.gpu_memory) = milli_ ? 100 * draw_.number(2, 8) : draw_.number(2, 7);
        } else if (has(Rule::kDeviceGroups)) {
            traits.gpus = draw_.one_of({1, 1, 2});
            if (!running) traits.gpus = 2;
            traits.same_group = draw_.chance(running ? 30 : 80);
        } else if (has(Rule::kDevices) || has(Rule::kShares) || out_.by_claim) {
            traits.gpus = draw_.one_of({1, 1, 2});
        }
    }

    // A node and devices there for a pod of that kind; ports, affinity and the like bound it when it was placed.
    std::optional<Spot> seat(int p, Mask nodes = ~Mask{0}) {
        std::vector<Spot> open;
        Places places;
        for (const WorldPod& pod : out_.pods)
            places.push_back({.node = pod.node, .devices = pod.devices});
        for (int n = 0; n < out_.node_count(); ++n) {
            if (!worlds::has(nodes, n) || !fits(p, n)) continue;
            for (Mask devices : device_choices(out_, places, p, n))
                open.push_back({.node = n, .devices = devices});
        }
        if (open.empty()) return std::nullopt;
        return open[static_cast<std::size_t>(draw_.number(0, static_cast<int>(open.size()) - 1))];
    }

    [[nodiscard]] bool fits(int p, int n) const {
        int cpu = 0;
        int memory = 0;
        int pods = 0;
        for (const WorldPod& pod : out_.pods) {
            if (pod.node != n && &pod != &out_.pod(p)) continue;
            cpu += pod.traits.cpu;
            memory += pod.traits.memory;
            ++pods;
        }
        const WorldNode& node = out_.node(n);
        return cpu <= node.cpu && memory <= node.memory && pods <= node.pods;
    }

    // One draw a line: compilers differ in the order in which they evaluate arguments, and the worlds must not.
    bool add_single() {
        const int priority = has(Rule::kAlikeNodes) ? draw_.one_of({0, 0, 0, 5}) : draw_level();
        return add_running_pod(-1, priority, draw_queue());
    }

    bool add_running_pod(int gang, int priority, int queue) {
        WorldPod pod{.name = fmt::format("p{}", out_.pods.size()),
                     .traits = {.app = some_app(),
                                .cpu = draw_.one_of({1, 1, 2, 2, 3}),
                                .memory = uses_memory_ ? draw_.number(0, 2) : 0,
                                .priority = priority,
                                .queue = queue},
                     .gang = gang,
                     .start = draw_.number(0, 30000),
                     .is_protected = draw_.chance(4)};
        if (has(Rule::kAlikeNodes)) {
            pod.traits.cpu = draw_.one_of({1, 2, 2, 2});
            pod.start = draw_.one_of({0, 3600});
        }
        draw_devices(pod.traits, true);
        add_rules(pod.traits, 25, true);
        const int p = out_.pod_count();
        out_.pods.push_back(std::move(pod));
        WorldPod& added = out_.pods.back();
        auto spot = seat(p);
        if (!spot) {
            // A smaller one may still find a place.
            added.traits = {.app = added.traits.app, .cpu = 1, .priority = priority, .queue = queue};
            spot = seat(p);
        }
        if (!spot) {
            out_.pods.pop_back();
            return false;
        }
        if (taken(spot->node, added.traits.port)) added.traits.port = 0;
        added.node = spot->node;
        added.devices = spot->devices;
        added.unwritten = added.traits.gpus > 0 && !out_.by_claim && draw_.chance(40);
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
            const int queue = draw_queue();
            if (has(Rule::kOwnPriorities)) out_.gangs.back().priority = priority;
            const int wanted = draw_.number(2, 4);
            int members = 0;
            while (members < wanted && add_running_pod(id, has(Rule::kOwnPriorities) ? draw_level() : priority, queue))
                ++members;
            // From one that can spare all but one member to one that lacks a member.
            out_.gangs.back().min = std::max(1, members + draw_.one_of({-2, -1, -1, 0, 0, 1}));
        }
    }

    void add_budgets() {
        if (!has(Rule::kStrictBudgets) && (!has(Rule::kBudgets) || has(Rule::kForeignFilters))) return;
        for (int app = 0; app < kApps; ++app) {
            if (draw_.chance(60)) out_.budgets.push_back({.app = app, .allowed = draw_.one_of({0, 0, 1, 1, 2})});
        }
    }

    Spread draw_spread(Level level) {
        Spread out{.level = level,
                   .max_skew = draw_.one_of({1, 1, 2}),
                   .min_domains = draw_.chance(20) ? draw_.number(1, 3) : 0,
                   .app = some_app()};
        if (has(Rule::kPools)) {
            out.any_pool = draw_.chance(30);
            out.heeds_taints = draw_.chance(40);
        }
        return out;
    }

    // Each rule of the world that a pod can have, with that chance. Running pods keep away from others or hold ports;
    // what they were placed by otherwise binds nobody any more.
    void add_rules(Traits& traits, int percent, bool running) {
        const auto wants = [&](Rule rule) { return has(rule) && draw_.chance(percent); };
        if (!running && wants(Rule::kMutualAffinity))
            traits.near.push_back({.level = draw_.chance(50) ? Level::kHost : Level::kZone, .app = traits.app});
        else if (!running && wants(Rule::kHostAffinity))
            traits.near.push_back({.level = Level::kHost, .app = some_app()});
        else if (!running && wants(Rule::kZoneAffinity))
            traits.near.push_back({.level = Level::kZone, .app = some_app()});
        if (wants(Rule::kHostAntiAffinity))
            traits.near.push_back({.anti = true, .level = Level::kHost, .app = some_app()});
        if (wants(Rule::kZoneAntiAffinity))
            traits.near.push_back({.anti = true, .level = Level::kZone, .app = some_app()});
        if (!running && wants(Rule::kHostSpread)) traits.spreads.push_back(draw_spread(Level::kHost));
        if (!running && wants(Rule::kZoneSpread)) traits.spreads.push_back(draw_spread(Level::kZone));
        if (has(Rule::kPorts) && draw_.chance(running ? 50 : 90)) traits.port = draw_.number(8080, 8081);
    }

    void add_demand(int number) {
        const bool gang = draw_.chance(45) || has(Rule::kMutualAffinity) || has(Rule::kTopology);
        Traits traits{.app = some_app(),
                      .cpu = gang ? draw_.one_of({1, 1, 2, 2, 3}) : draw_.one_of({1, 2, 2, 3, 3, 4}),
                      .memory = uses_memory_ ? draw_.number(0, 3) : 0,
                      .priority = number == 0 ? 100 : draw_.one_of({60, 95}),
                      .queue = out_.queues.empty() ? -1 : 0};
        if (has(Rule::kAlikeNodes)) traits.cpu = std::min(traits.cpu, 2);
        draw_devices(traits, false);
        add_rules(traits, 85, false);
        if (has(Rule::kPools)) {
            traits.pool = draw_.one_of({-1, 0, 1});
            traits.tolerates = draw_.chance(40);
        }
        const WorldPod pod{.name = fmt::format("want{}", number), .traits = traits, .start = 40000 + number};
        if (gang)
            add_members(pod);
        else
            out_.pods.push_back(pod);
    }

    void add_members(const WorldPod& like) {
        const int members = draw_.number(2, 3);
        WorldGang gang{.name = like.name, .min = members};
        if (has(Rule::kTopology)) gang.together = draw_.one_of({Together::kRack, Together::kRack, Together::kZone});
        if (gang.together == Together::kZone) gang.kind = GangKind::kCoreSingle;
        const bool mixed = draw_.chance(20);
        if (!mixed && members == 3 && draw_.chance(25)) gang.min = 2;
        for (int m = 0; m < members; ++m) {
            WorldPod pod = like;
            pod.name = fmt::format("{}-{}", like.name, m);
            pod.gang = static_cast<int>(out_.gangs.size());
            if (mixed && m > 0) pod.traits.cpu = draw_.number(1, 2);
            if (mixed && m > 0 && !out_.by_claim) draw_other_devices(pod.traits);
            if (mixed && m > 0 && out_.by_claim && pod.traits.gpus > 0) pod.traits.gpus = draw_.number(1, 2);
            out_.pods.push_back(std::move(pod));
        }
        out_.gangs.push_back(gang);
    }

    void draw_other_devices(Traits& traits) {
        traits.gpus = traits.gpu_milli = traits.gpu_memory = 0;
        traits.same_group = traits.counted = false;
        draw_devices(traits, false);
    }

    // A claim for one pod alone that a running pod holds, or a volume of one node, for the first that waits.
    void add_claims() {
        if (!has(Rule::kVolumes)) return;
        const auto first = std::ranges::find(out_.pods, -1, &WorldPod::node);
        const int holder = draw_.number(0, static_cast<int>(first - out_.pods.begin()) - 1);
        const bool local = draw_.chance(50);
        const int node = local ? draw_.number(0, out_.node_count() - 1) : -1;
        const bool one_pod = !local || draw_.chance(50);
        WorldPod& other = out_.pods[static_cast<std::size_t>(std::max(holder, 0))];
        if (holder >= 0 && one_pod && (node < 0 || other.node == node)) other.traits.claim = 0;
        first->traits.claim = 0;
        // Which members of a gang come first is told where they are alike.
        if (first->gang >= 0) {
            out_.gangs[static_cast<std::size_t>(first->gang)].min =
                static_cast<int>(std::ranges::count(out_.pods, first->gang, &WorldPod::gang));
        }
        out_.claims.push_back({.one_pod = one_pod, .node = node});
    }

    // Around what is used, so that some may take the demand and most are short.
    void set_limits() {
        if (out_.queues.empty()) return;
        int used = 0;
        int all = 0;
        int wanted = 0;
        for (const WorldPod& pod : out_.pods) {
            (pod.node < 0 ? wanted : all) += pod.traits.cpu;
            if (pod.node >= 0 && pod.traits.queue == 0) used += pod.traits.cpu;
        }
        if (draw_.chance(80)) out_.queues[0].cpu_limit = std::max(1, used + draw_.number(-1, wanted));
        if (out_.queues.size() > 2 && draw_.chance(80))
            out_.queues[2].cpu_limit = std::max(1, all + draw_.number(-1, wanted));
    }

    oracle::Draw draw_;
    World out_;
    int wanted_pods_ = 0;
    bool uses_memory_ = false;
    bool milli_ = false;
    bool hami_ = false;
};

}  // namespace

World draw_world(std::uint64_t number) { return Maker(number).run(); }

}  // namespace reprieve::worlds
