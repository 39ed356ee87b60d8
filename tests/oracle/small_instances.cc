#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "draw.h"
#include "generate.h"
#include "rules.h"

namespace reprieve::oracle {
namespace {

constexpr int kMostPods = 12;

class SmallMaker {
public:
    explicit SmallMaker(std::uint64_t number) : draw_(number) {}

    Instance pod_demand() {
        add_nodes(draw_.number(1, 4));
        fill();
        out_.demand = {.is_gang = false, .members = {shape(3)}, .priority = draw_.one_of<std::int64_t>({1, 5, 10, 20})};
        return std::move(out_);
    }

    Instance gang_demand() {
        add_nodes(draw_.number(2, 6));
        fill();
        Demand& demand = out_.demand;
        demand = {.way = Way::kGangPreempt,
                  .is_gang = true,
                  .members = {},
                  .priority = draw_.one_of<std::int64_t>({1, 5, 10, 20})};
        demand.tier = draw_.number(0, 2);
        add_members();
        return std::move(out_);
    }

    // A job, or a single pod, under quotas; or a gang in a queue with a limit.
    Instance quota_demand() {
        add_nodes(draw_.number(1, 5));
        add_quotas(draw_.chance(80));
        fill();
        Demand& demand = out_.demand;
        const bool elastic = out_.quotas.front().elastic;
        demand = {.way = elastic || draw_.chance(50) ? Way::kJobPreempt : Way::kGangPreempt,
                  .is_gang = draw_.chance(70),
                  .members = {},
                  .priority = draw_.one_of<std::int64_t>({1, 5, 10, 20}),
                  .quota = some_quota(),
                  .is_fixed = elastic && draw_.chance(75)};
        if (demand.is_gang) {
            demand.tier = draw_.one_of({0, 0, 1, 2});
            add_members();
        } else {
            demand.members = {shape(3)};
        }
        set_limits();
        return std::move(out_);
    }

private:
    void add_members() {
        Demand& demand = out_.demand;
        const Amounts first = shape(2);
        const Amounts second = draw_.chance(30) ? shape(2) : first;
        const int members = draw_.number(1, 5);
        for (int i = 0; i < members; ++i)
            demand.members.push_back(draw_.chance(50) ? first : second);
        if (first == second) demand.surplus = draw_.number(0, 1);
    }

    // A tree of up to three levels.
    void add_quotas(bool elastic) {
        const int count = draw_.number(1, 4);
        std::vector<int> depth;
        for (int q = 0; q < count; ++q) {
            const int parent = draw_.number(-1, q - 1);
            const bool below = parent >= 0 && depth[static_cast<std::size_t>(parent)] < 3;
            depth.push_back(below ? depth[static_cast<std::size_t>(parent)] + 1 : 1);
            out_.quotas.push_back({.name = fmt::format("q{}", q), .parent = below ? parent : -1, .elastic = elastic});
            for (bool& managed : out_.quotas.back().managed)
                managed = draw_.chance(80);
        }
    }

    // Queues with others below them take no pods themselves.
    int some_quota() {
        if (out_.quotas.empty()) return -1;
        std::vector<int> open;
        for (int q = 0; q < static_cast<int>(out_.quotas.size()); ++q) {
            const bool parent = std::ranges::any_of(out_.quotas, [&](const Quota& other) { return other.parent == q; });
            if (out_.quotas.front().elastic || !parent) open.push_back(q);
        }
        return open[static_cast<std::size_t>(draw_.number(0, static_cast<int>(open.size()) - 1))];
    }

    // Around what is used: some may take the demand, most are short, a few promise more than there is.
    void set_limits() {
        for (std::size_t d = 0; d < kDims; ++d) {
            const std::int64_t need = need_of(out_.demand)[d];
            for (int q = static_cast<int>(out_.quotas.size()) - 1; q >= 0; --q) {
                Quota& quota = out_.quotas[static_cast<std::size_t>(q)];
                const bool own = is_above(q, out_.demand.quota);
                quota.least[d] = draw_.number(0, 4);
                if (own && draw_.chance(85)) quota.least[d] = use_below(q, d, true) + need + draw_.number(0, 3);
                quota.most[d] = std::max(quota.least[d], use_below(q, d, false) + draw_.number(-2, 4));
            }
        }
    }

    [[nodiscard]] bool is_above(int quota, int other) const {
        for (; other >= 0; other = out_.quotas[static_cast<std::size_t>(other)].parent) {
            if (other == quota) return true;
        }
        return false;
    }

    [[nodiscard]] std::int64_t use_below(int quota, std::size_t dim, bool fixed_only) const {
        std::int64_t sum = 0;
        for (const RunningPod& pod : out_.pods) {
            if (is_above(quota, pod.quota) && (pod.is_fixed || !fixed_only)) sum += pod.ask[dim];
        }
        return sum;
    }

    struct Membership {
        int quota = -1;
        bool is_fixed = false;
    };

    Membership some_membership() {
        if (out_.quotas.empty() || draw_.chance(10)) return {};
        return {.quota = some_quota(), .is_fixed = out_.quotas.front().elastic && draw_.chance(15)};
    }

    void add_nodes(int count) {
        for (int n = 0; n < count; ++n) {
            out_.nodes.push_back({.name = fmt::format("n{}", n),
                                  .size = {draw_.number(3, 8), draw_.number(3, 8), draw_.one_of({0, 2, 4, 4})},
                                  .rack = n / 2,
                                  .row = n / 4});
        }
        room_.clear();
        for (const HostNode& node : out_.nodes)
            room_.push_back(node.size);
    }

    Amounts shape(int scale) {
        return {draw_.number(1, 2 * scale), draw_.number(0, 2 * scale), draw_.one_of({0, 0, 1, 2})};
    }

    std::optional<int> seat(const Amounts& ask) {
        const int start = draw_.number(0, static_cast<int>(room_.size()) - 1);
        for (std::size_t i = 0; i < room_.size(); ++i) {
            const std::size_t n = (i + static_cast<std::size_t>(start)) % room_.size();
            bool holds = true;
            for (std::size_t d = 0; d < kDims; ++d)
                holds = holds && ask[d] <= room_[n][d];
            if (!holds) continue;
            for (std::size_t d = 0; d < kDims; ++d)
                room_[n][d] -= ask[d];
            return static_cast<int>(n);
        }
        return std::nullopt;
    }

    bool add_pod(int gang, std::int64_t priority, const Amounts& ask, int role, const Membership& in) {
        const auto node = seat(ask);
        if (!node) return false;
        // Starts differ, in no order.
        const auto count = static_cast<std::int64_t>(out_.pods.size());
        out_.pods.push_back({.name = fmt::format("p{}", count),
                             .node = *node,
                             .gang = gang,
                             .priority = priority,
                             .ask = ask,
                             .start = draw_.between(0, 500) * 100 + count,
                             .app = draw_.chance(50) ? draw_.number(0, 2) : -1,
                             .role = role,
                             .quota = in.quota,
                             .is_fixed = in.is_fixed,
                             .is_protected = draw_.chance(6)});
        return true;
    }

    // One draw a line: compilers differ in the order in which they evaluate arguments, and the worlds must not.
    void add_single() {
        const std::int64_t priority = level();
        const Amounts ask = shape(1);
        add_pod(-1, priority, ask, -1, some_membership());
    }

    void add_gang() {
        const int members = draw_.number(1, 4);
        RunningGang gang{.name = fmt::format("g{}", out_.gangs.size())};
        const bool roles = draw_.chance(25);
        if (roles) gang.role_minimums = {draw_.number(0, 2), draw_.number(0, 2)};
        if (!roles && draw_.chance(25)) gang.mode = draw_.one_of({GangMode::kCoreAll, GangMode::kCoreSingle});
        const std::int64_t priority = level();
        const Amounts ask = shape(1);
        const Membership in = some_membership();
        int placed = 0;
        for (int i = 0; i < members; ++i) {
            const Amounts own = draw_.chance(70) ? ask : shape(1);
            const std::int64_t mine = draw_.chance(80) ? priority : level();
            const int role = roles ? draw_.number(0, 1) : -1;
            placed += add_pod(static_cast<int>(out_.gangs.size()), mine, own, role, in) ? 1 : 0;
        }
        // From one that runs with few to one that lacks some.
        gang.min = std::max(1, placed + draw_.number(-3, 1));
        out_.gangs.push_back(gang);
    }

    std::int64_t level() { return draw_.one_of<std::int64_t>({0, 0, 1, 2, 5, 10, -3}); }

    void fill() {
        for (int tries = 0; tries < 30 && out_.pods.size() + 4 <= kMostPods; ++tries) {
            if (draw_.chance(45))
                add_gang();
            else
                add_single();
        }
        for (int app = 0; app < 3; ++app) {
            if (draw_.chance(30)) out_.budgets.push_back({.app = app, .allowed = draw_.number(0, 2)});
        }
    }

    Draw draw_;
    Instance out_;
    std::vector<Amounts> room_;
};

}  // namespace

Instance small_pod_instance(std::uint64_t number) { return SmallMaker(number).pod_demand(); }
Instance small_gang_instance(std::uint64_t number) { return SmallMaker(number).gang_demand(); }
Instance small_quota_instance(std::uint64_t number) { return SmallMaker(number).quota_demand(); }

void draw_cost(Instance& instance, std::uint64_t number) {
    Draw draw(number ^ 0xC057U);
    std::vector<std::string> terms{
        "pdbViolations", "breaksGangs", "maxPriority", "gangsBroken", "prioritySum", "resources", "pods"};
    for (std::size_t wanted = static_cast<std::size_t>(draw.number(1, 5)); instance.demand.cost.size() < wanted;) {
        const auto at = terms.begin() + draw.number(0, static_cast<int>(terms.size()) - 1);
        instance.demand.cost.push_back(*at);
        terms.erase(at);
    }
}

}  // namespace reprieve::oracle
