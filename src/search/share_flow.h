// ShareFlow: how the places of a domain share the weight of units that lie on several of them, by maximum flow.
//
// The problem, relaxed: choose as many slots as are wanted; whoever is needed for a chosen slot goes, and slots and
// units may be chosen by halves. Give every slot the same price. Then which slots are worth it is a minimum cut: the
// source feeds each slot with the price, a slot feeds the units that it needs, each unit drains as much as it weighs.
// What flows from a slot to a unit is the share that the slot pays. At the right price as many slots as are wanted are
// worth it, or that many lie between two cuts of the same value; then the shares make the sum over the cheapest slots
// as large as any shares can. Prices are whole numbers, and so is everything else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.h"

namespace reprieve {

class ShareFlow {
public:
    struct Slot {
        std::int32_t before = -1;  // a slot of the same place that comes first
        std::uint32_t first = 0;   // what it needs beyond that one, in `needs`
        std::uint32_t count = 0;
        bool is_bonus = false;
        Wide bonus = 0;
    };

    // `needs`: units, as places in `weights`, of which none is below 0.
    ShareFlow(std::vector<Slot> slots, std::vector<std::uint32_t> needs, std::vector<Wide> weights);

    // False: more than so many looks at edges would be needed. REQUIRES: wanted <= slots that are no bonus.
    [[nodiscard]] bool solve(std::int64_t wanted, std::int64_t most_looks);
    // By need: what its slot pays of the unit.
    [[nodiscard]] std::vector<Wide> paid() const;
    // The slots that are worth it, no more than are wanted; and those that may be, no fewer than are wanted. Bonuses
    // that are taken are among them.
    [[nodiscard]] const std::vector<bool>& surely() const { return surely_; }
    [[nodiscard]] const std::vector<bool>& perhaps() const { return perhaps_; }
    [[nodiscard]] std::int64_t looks() const { return looks_; }

private:
    struct Edge {
        std::uint32_t to = 0;
        Wide left = 0;  // what may still flow
    };
    // What a choice of slots weighs, less its bonuses and the price of each slot: a line over the price.
    struct Line {
        std::int64_t slots = 0;
        Wide weight = 0;
    };

    void connect(std::uint32_t from, std::uint32_t to, Wide most);
    void index_edges();
    void fill(Wide price, Wide from_price);
    [[nodiscard]] bool find_levels();
    Wide push(std::uint32_t at, Wide most);
    [[nodiscard]] std::vector<bool> fed() const;
    [[nodiscard]] std::vector<bool> not_drained() const;
    [[nodiscard]] Line line_of(const std::vector<bool>& chosen) const;

    static constexpr std::uint32_t kSource = 0;
    static constexpr std::uint32_t kSink = 1;
    static constexpr std::uint32_t kFirstSlot = 2;

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> needs_;
    std::vector<Wide> weights_;
    Wide all_ = 0;
    std::vector<Edge> edges_;  // an edge and its way back side by side
    std::vector<std::uint32_t> from_;
    std::vector<std::uint32_t> first_;  // by vertex, in `out_`
    std::vector<std::uint32_t> out_;    // edges
    std::vector<std::int32_t> level_;
    std::vector<std::uint32_t> next_;
    std::vector<bool> surely_;
    std::vector<bool> perhaps_;
    std::int64_t looks_ = 0;
};

}  // namespace reprieve
