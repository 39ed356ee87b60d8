#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "draw.h"
#include "generate.h"

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
        demand = {.is_gang = true, .members = {}, .priority = draw_.one_of<std::int64_t>({1, 5, 10, 20})};
        demand.tier = draw_.number(0, 2);
        const Amounts first = shape(2);
        const Amounts second = draw_.chance(30) ? shape(2) : first;
        const int members = draw_.number(1, 5);
        for (int i = 0; i < members; ++i)
            demand.members.push_back(draw_.chance(50) ? first : second);
        if (first == second) demand.surplus = draw_.number(0, 1);
        return std::move(out_);
    }

private:
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

    bool add_pod(int gang, std::int64_t priority, const Amounts& ask, int role) {
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
                             .is_protected = draw_.chance(6)});
        return true;
    }

    void add_gang() {
        const int members = draw_.number(1, 4);
        RunningGang gang{.name = fmt::format("g{}", out_.gangs.size())};
        const bool roles = draw_.chance(25);
        if (roles) gang.role_minimums = {draw_.number(0, 2), draw_.number(0, 2)};
        if (!roles && draw_.chance(25)) gang.mode = draw_.one_of({GangMode::kCoreAll, GangMode::kCoreSingle});
        const std::int64_t priority = level();
        const Amounts ask = shape(1);
        int placed = 0;
        for (int i = 0; i < members; ++i) {
            const Amounts own = draw_.chance(70) ? ask : shape(1);
            const std::int64_t mine = draw_.chance(80) ? priority : level();
            placed += add_pod(static_cast<int>(out_.gangs.size()), mine, own, roles ? draw_.number(0, 1) : -1) ? 1 : 0;
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
                add_pod(-1, level(), shape(1), -1);
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

}  // namespace reprieve::oracle
