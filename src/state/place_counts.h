// PlaceCounts: how much of something there is at each place (a node, or a domain of a topology key).
//
// Most terms concern few places of many: the counts are a small table of those that are not zero, until a good part of
// the places has one; then a plain array. Which of the two it is depends on what has been counted before and is
// nobody's business: two are equal if they count the same. Taking away what was added leaves nothing behind, and
// allocates nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace reprieve {

template <class Count>
class PlaceCounts {
public:
    [[nodiscard]] Count at(std::size_t place) const {
        if (!plain_.empty()) return place < plain_.size() ? plain_[place] : Count{0};
        return used_ == 0 ? Count{0} : table_[find(place)].count;
    }

    // `places`: how many there are; it may have grown since the last time.
    void add(std::size_t place, Count by, std::size_t places) {
        REPRIEVE_CHECK(place < places, "a place that is not there");
        if (plain_.empty() && (used_ + 1) * kPlainFrom > places) spread_out(places);
        if (!plain_.empty()) {
            if (place >= plain_.size()) plain_.resize(places);
            plain_[place] += by;
            return;
        }
        if ((used_ + 1) * 2 > table_.size()) rehash(std::max<std::size_t>(kSmallest, table_.size() * 2));
        Entry& entry = table_[find(place)];
        if (entry.count == 0) {
            entry.place = static_cast<std::uint32_t>(place);
            ++used_;
        }
        entry.count += by;
        if (entry.count == 0) erase(static_cast<std::size_t>(&entry - table_.data()));
    }

    // All that are not zero, in no particular order.
    template <class See>
    void for_each(See see) const {
        for (std::size_t place = 0; place < plain_.size(); ++place) {
            if (plain_[place] != 0) see(place, plain_[place]);
        }
        for (const Entry& entry : table_) {
            if (entry.count != 0) see(entry.place, entry.count);
        }
    }

    friend bool operator==(const PlaceCounts& a, const PlaceCounts& b) { return a.within(b) && b.within(a); }

private:
    // An entry with count zero is free.
    struct Entry {
        std::uint32_t place = 0;
        Count count = 0;
    };
    static constexpr std::size_t kSmallest = 4;
    static constexpr std::size_t kPlainFrom = 4;  // a table of half-filled entries with keys is then no smaller

    [[nodiscard]] std::size_t home(std::size_t place) const {
        return (static_cast<std::uint32_t>(place) * 2654435769U) >> (32 - std::bit_width(table_.size() - 1));
    }
    // Where the place stands, or the free entry where it would.
    [[nodiscard]] std::size_t find(std::size_t place) const {
        std::size_t at = home(place);
        while (table_[at].count != 0 && table_[at].place != place)
            at = (at + 1) & (table_.size() - 1);
        return at;
    }
    // Closes the gap, so that every entry can be reached from its home.
    void erase(std::size_t gap) {
        const std::size_t mask = table_.size() - 1;
        for (std::size_t at = (gap + 1) & mask; table_[at].count != 0; at = (at + 1) & mask) {
            if (((at - home(table_[at].place)) & mask) < ((at - gap) & mask)) continue;
            table_[gap] = table_[at];
            gap = at;
        }
        table_[gap] = {};
        --used_;
    }
    void rehash(std::size_t size) {
        std::vector<Entry> before(size);
        before.swap(table_);
        for (const Entry& entry : before) {
            if (entry.count != 0) table_[find(entry.place)] = entry;
        }
    }
    void spread_out(std::size_t places) {
        plain_.resize(places);
        for (const Entry& entry : table_) {
            if (entry.count != 0) plain_[entry.place] = entry.count;
        }
        table_ = {};
        used_ = 0;
    }
    // Whether all that is counted here is counted there.
    [[nodiscard]] bool within(const PlaceCounts& other) const {
        bool all = true;
        for_each([&](std::size_t place, Count count) { all = all && other.at(place) == count; });
        return all;
    }

    std::vector<Entry> table_;  // a power of two, at most half full
    std::uint32_t used_ = 0;
    std::vector<Count> plain_;
};

}  // namespace reprieve
