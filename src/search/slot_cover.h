// SlotCover: the cheapest units whose going lets enough members fit on the nodes of a domain, by a dynamic program.
//
// Members are alike and verdicts local to a node. Per node the sets of units that matter are few (at most a handful of
// devices); over the nodes the least cost for each number of members adds up. A unit on several nodes is paid for node
// by node, each a share of its weight: that is exact where every unit keeps to one node, and else never too dear, so
// the answer is a lower bound. Any shares that add up to the weight will do; good ones are found by trial.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/wide.h"

namespace reprieve {

enum class UnitState : std::uint8_t {
    kOpen,  // may go
    kGone,  // goes
    kStays,
};

class SlotCover {
public:
    static constexpr std::size_t kMostDims = 8;
    using Room = std::array<std::int64_t, kMostDims>;

    // What a unit frees on a node.
    struct Gift {
        std::uint32_t unit = 0;
        Room room{};
        std::uint32_t share = 0;  // its place in `Shares`; filled in by the cover
    };
    struct Place {
        Room free{};
        std::vector<Gift> gifts;
    };

    // `ask` of one member; 0 where a place in the array is not used.
    SlotCover(const Room& ask, std::int64_t wanted, std::vector<Place> places, std::size_t units);

    // Whether all members fit when everybody goes who does not stay.
    [[nodiscard]] bool holds(std::span<const UnitState> states);

    struct Choice {
        Wide cost = 0;                       // of the units that were open
        std::vector<std::uint32_t> chosen;   // open units with a share in it
        std::vector<std::uint32_t> partial;  // of those, the ones not paid for on all their nodes
        std::vector<std::uint32_t> paid;     // places in `Shares`
    };
    // What each place of each unit weighs, unit by unit. Those with the same version are the same.
    struct Shares {
        std::vector<Wide> weights;
        std::uint64_t version = 0;
    };
    // The weight of each unit divided over its places; they add up to it.
    [[nodiscard]] Shares even_shares(std::span<const Wide> weights);
    // Each the whole weight, as far as sums of them can be told: dear enough wherever the unit is taken.
    [[nodiscard]] Shares whole_shares(std::span<const Wide> weights);
    // Nullopt: they never fit. Shares count for open units only.
    [[nodiscard]] std::optional<Choice> cheapest(std::span<const UnitState> states, const Shares& shares);
    // Divides the weights so that the answer for these states is dearer, in so many trials.
    void tune(std::span<const UnitState> states, Shares& shares, int trials);

    // What is paid if all of these go together, wherever they are.
    struct Bonus {
        Wide amount = 0;
        std::vector<std::uint32_t> units;  // open ones
    };
    // The weights shared by maximum flow (share_flow.h): exactly as well as shares can be where all of a place must go
    // for a slot, and some shares or other elsewhere.
    struct Flow {
        Shares shares;                       // of the weights, less what bonuses pay of them
        std::vector<Wide> linked;            // by unit: what a bonus pays
        Wide unpaid = 0;                     // of all bonuses, what is left over
        std::vector<std::uint32_t> rounded;  // open units that are enough, by their weights
        std::vector<std::uint32_t> between;  // open units that the relaxation takes in part
        // By unit and by bonus, how much of it goes, in so many parts.
        std::vector<std::int64_t> gone;
        std::vector<std::int64_t> taken;
        std::int64_t parts = 1;
    };
    // Nullopt: nothing is missing, never enough, or more work than that.
    [[nodiscard]] std::optional<Flow> flow(std::span<const UnitState> states,
                                           std::span<const Wide> weights,
                                           std::span<const Bonus> bonuses,
                                           std::int64_t most_work);
    // Whether the unit makes room anywhere.
    [[nodiscard]] bool has_place(std::uint32_t unit) const { return !places_of_[unit].empty(); }

    // Where the unit makes room and how much, as a list of numbers that is the same for units that do the same.
    [[nodiscard]] std::vector<std::int64_t> gifts_of(std::uint32_t unit) const;
    // Too many different units on one node: no answer can be trusted.
    [[nodiscard]] bool overflowed() const { return overflowed_; }
    // Work so far, in about as many microseconds: sets of units looked at, and something for each place.
    [[nodiscard]] std::int64_t work() const { return looks_ / 16; }

    // How many members fit while units come and go one by one.
    class Count {
    public:
        explicit Count(const SlotCover& cover);
        void take(std::uint32_t unit) { change(unit, 1); }
        void give(std::uint32_t unit) { change(unit, -1); }
        [[nodiscard]] bool enough() const { return total_ >= cover_.wanted_; }

    private:
        void change(std::uint32_t unit, std::int64_t sign);

        const SlotCover& cover_;
        std::vector<Room> rooms_;  // by place
        std::int64_t total_ = 0;
    };

private:
    // Some open units of one place: what is free with them gone, and what they cost.
    struct Partial {
        Room room{};
        Wide cost = 0;
        std::uint64_t gifts = 0;  // a bit for each
    };
    // What one place offers: by members gained, the first is for none.
    using Menu = std::vector<Partial>;
    // Who is decided how on a place, a bit for each gift.
    struct Decided {
        std::uint64_t open = 0;
        std::uint64_t gone = 0;
        friend bool operator==(const Decided&, const Decided&) = default;
    };
    // Members that fit with those gone who are, and with all open ones gone too.
    struct Range {
        std::int64_t least = 0;
        std::int64_t most = 0;
    };
    // Neither changes while nobody on the place is decided otherwise: the last ones are kept.
    struct KeptMenu {
        std::uint64_t version = 0;
        Decided decided;
        Menu menu;
    };
    struct KeptRange {
        bool known = false;
        Decided decided;
        Range range;
    };
    struct Shelf {
        static constexpr std::size_t kMost = 4;
        std::array<KeptMenu, kMost> menus;
        std::array<KeptRange, kMost> ranges;
        std::size_t next_menu = 0;
        std::size_t next_range = 0;
    };

    [[nodiscard]] std::int64_t slots(const Room& room) const;
    [[nodiscard]] Room emptied(const Place& place, std::span<const UnitState> states, bool open_too) const;
    // The slots that places could gain, each with the gifts that it cannot do without (slot_cover_flow.cc).
    struct Needs;
    [[nodiscard]] std::int64_t list_needs(std::span<const UnitState> states, Needs& out);
    void share(const Needs& needs, std::span<const Wide> weights, std::span<const Wide> paid, Flow& out);
    void round(const Needs& needs, std::span<const Wide> weights, std::int64_t missing, Flow& out);
    [[nodiscard]] static Decided decided_on(const Place& place, std::span<const UnitState> states);
    [[nodiscard]] Range range_of(std::size_t place, const Decided& decided, std::span<const UnitState> states);
    [[nodiscard]] const Menu& menu_of(std::size_t place,
                                      const Decided& decided,
                                      std::span<const UnitState> states,
                                      const Shares& shares);
    void write_menu(
        const Place& place, const Range& range, std::span<const UnitState> states, const Shares& shares, Menu& menu);

    Room ask_;
    std::size_t dims_ = 0;  // that are used
    std::int64_t wanted_;
    std::vector<Place> places_;
    struct Where {
        std::uint32_t place = 0;
        std::uint32_t gift = 0;
    };
    std::vector<std::vector<Where>> places_of_;  // of each unit
    std::vector<std::uint32_t> first_share_;     // of each unit
    std::uint32_t share_count_ = 0;
    std::uint64_t versions_ = 0;
    std::vector<Shelf> shelves_;  // by place
    std::vector<Partial> partials_;
    std::vector<Partial> more_;
    bool overflowed_ = false;
    std::int64_t looks_ = 0;
};

}  // namespace reprieve
