// Tournament: the best of N entries, kept while entries change. An update costs at most log N comparisons, and ends
// where somebody else has won all along. Entries that changed together are played again round by round, so that a
// match in which two of them meet is played once: neighbours cost about two comparisons each.
//
// `better(a, b)` is a strict weak order on entry numbers; of equals the lower number wins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace reprieve {

class Tournament {
public:
    static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

    template <class Better>
    void build(std::size_t entries, Better better) {
        size_ = 1;
        while (size_ < entries)
            size_ *= 2;
        winner_.assign(2 * size_, kNobody);
        for (std::size_t i = 0; i < entries; ++i)
            winner_[size_ + i] = static_cast<std::uint32_t>(i);
        for (std::size_t at = size_ - 1; at >= 1; --at)
            winner_[at] = play(winner_[2 * at], winner_[2 * at + 1], better);
    }

    template <class Better>
    void update(std::size_t entry, Better better) {
        for (std::size_t at = (size_ + entry) / 2; at >= 1; at /= 2) {
            const std::uint32_t winner = play(winner_[2 * at], winner_[2 * at + 1], better);
            if (winner == winner_[at] && winner != entry) return;
            winner_[at] = winner;
        }
    }

    // The same for several entries. `changed` is used up.
    template <class Better>
    void update_all(std::vector<std::uint32_t>& changed, Better better) {
        for (std::uint32_t& entry : changed)
            entry += static_cast<std::uint32_t>(size_);
        std::ranges::sort(changed);
        const auto repeated = std::ranges::unique(changed);
        changed.erase(repeated.begin(), repeated.end());
        // Places whose winner is another one, or has changed itself.
        while (!changed.empty() && changed.front() > 1) {
            std::size_t count = 0;
            for (std::size_t i = 0; i < changed.size(); ++i) {
                const std::uint32_t place = changed[i];
                const bool both = i + 1 < changed.size() && changed[i + 1] == (place ^ 1U);
                const std::uint32_t match = place / 2;
                const std::uint32_t winner = play(winner_[place & ~1U], winner_[place | 1U], better);
                const bool goes_on = both || winner != winner_[match] || winner == winner_[place];
                winner_[match] = winner;
                if (goes_on) changed[count++] = match;
                if (both) ++i;
            }
            changed.resize(count);
        }
    }

    [[nodiscard]] std::uint32_t winner() const { return winner_.size() < 2 ? kNobody : winner_[1]; }

    // The best of the entries from `first` up to, but not including, `last`.
    template <class Better>
    [[nodiscard]] std::uint32_t winner_among(std::size_t first, std::size_t last, Better better) const {
        std::uint32_t best = kNobody;
        if (winner_.empty()) return best;
        for (first += size_, last += size_; first < last; first /= 2, last /= 2) {
            if (first % 2 == 1) best = play(best, winner_[first++], better);
            if (last % 2 == 1) best = play(best, winner_[--last], better);
        }
        return best;
    }

    // The best of those that lost to nobody but the winner.
    template <class Better>
    [[nodiscard]] std::uint32_t runner_up(Better better) const {
        const std::uint32_t first = winner();
        if (first == kNobody) return kNobody;
        std::uint32_t second = kNobody;
        for (std::size_t at = size_ + first; at > 1; at /= 2)
            second = play(second, winner_[at ^ 1U], better);
        return second;
    }

private:
    template <class Better>
    static std::uint32_t play(std::uint32_t a, std::uint32_t b, Better better) {
        if (a == kNobody) return b;
        if (b == kNobody) return a;
        if (better(b, a)) return b;
        if (better(a, b)) return a;
        return a < b ? a : b;
    }

    std::size_t size_ = 0;
    std::vector<std::uint32_t> winner_;
};

}  // namespace reprieve
