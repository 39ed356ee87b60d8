#include "search/cost_board.h"

#include <algorithm>
#include <numeric>

namespace reprieve {

CostBoard::CostBoard(std::size_t nodes, std::size_t terms)
    : terms_(terms),
      keys_(std::make_unique_for_overwrite<std::int64_t[]>(nodes * terms)),
      states_(nodes) {}

CostBoard::Entry CostBoard::get(std::uint32_t rank) const {
    Entry out{.candidate = is_candidate(rank), .settled = is_settled(rank)};
    if (out.candidate) std::ranges::copy(key_of(rank), out.key.terms.begin());
    return out;
}

int CostBoard::compare(std::uint32_t a, std::uint32_t b) const {
    const std::int64_t* x = key_of(a).data();
    const std::int64_t* y = key_of(b).data();
    for (std::size_t t = 0; t < terms_; ++t) {
        if (x[t] != y[t]) return x[t] < y[t] ? -1 : 1;
    }
    return 0;
}

bool CostBoard::better(std::uint32_t a, std::uint32_t b) const {
    if (is_candidate(a) != is_candidate(b)) return is_candidate(a);
    return is_candidate(a) && compare(a, b) < 0;
}

void CostBoard::write(std::uint32_t rank, const Entry& entry) {
    states_[rank] = static_cast<std::uint8_t>((entry.candidate ? kCandidate : 0) | (entry.settled ? kSettled : 0));
    if (!entry.candidate) return;
    std::copy_n(entry.key.terms.begin(), terms_, key_of(rank).begin());
}

void CostBoard::rebuild() {
    candidates_ = std::ranges::count_if(states_, [](std::uint8_t state) { return (state & kCandidate) != 0; });
    best_.build(states_.size(), [this](std::uint32_t a, std::uint32_t b) { return better(a, b); });
    grouped_by_.reset();
}

void CostBoard::set(std::uint32_t rank, const Entry& entry) {
    const std::int64_t change = (entry.candidate ? 1 : 0) - (is_candidate(rank) ? 1 : 0);
    write(rank, entry);
    candidates_ += change;
    if (grouped_by_) groups_[group_of_rank_[rank]].candidates += change;
}

void CostBoard::play_again(std::vector<std::uint32_t> ranks) {
    std::vector<std::uint32_t> slots;
    if (grouped_by_) {
        for (std::uint32_t rank : ranks)
            slots.push_back(slot_of_rank_[rank]);
    }
    best_.update_all(ranks, [this](std::uint32_t a, std::uint32_t b) { return better(a, b); });
    best_by_group_.update_all(
        slots, [this](std::uint32_t a, std::uint32_t b) { return better(rank_of_slot_[a], rank_of_slot_[b]); });
}

void CostBoard::update(std::uint32_t rank, const Entry& entry) {
    set(rank, entry);
    best_.update(rank, [this](std::uint32_t a, std::uint32_t b) { return better(a, b); });
    if (!grouped_by_) return;
    best_by_group_.update(slot_of_rank_[rank], [this](std::uint32_t a, std::uint32_t b) {
        return better(rank_of_slot_[a], rank_of_slot_[b]);
    });
}

std::uint32_t CostBoard::winner() const {
    const std::uint32_t rank = best_.winner();
    return rank == kNobody || !is_candidate(rank) ? kNobody : rank;
}

std::uint32_t CostBoard::runner_up() const {
    const std::uint32_t rank = best_.runner_up([this](std::uint32_t a, std::uint32_t b) { return better(a, b); });
    return rank == kNobody || !is_candidate(rank) ? kNobody : rank;
}

void CostBoard::leave_open(std::uint32_t rank, const std::optional<Cost>& from) {
    if (from)
        open_[rank] = *from;
    else
        open_.erase(rank);
}

std::optional<Cost> CostBoard::least_open() const {
    std::optional<Cost> least;
    for (const auto& [rank, cost] : open_) {
        if (!least || cost < *least) least = cost;
    }
    return least;
}

void CostBoard::group_by(const Snapshot& s, std::span<const TopologyKeyId> keys) {
    if (grouped_by_ && std::ranges::equal(*grouped_by_, keys)) return;
    grouped_by_.emplace(keys.begin(), keys.end());
    const auto domain = [&](std::uint32_t rank, TopologyKeyId key) {
        return s.topology.domain(key, s.nodes_by_name[rank].index());
    };
    rank_of_slot_.resize(size());
    std::iota(rank_of_slot_.begin(), rank_of_slot_.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        for (TopologyKeyId key : keys) {
            if (domain(a, key) != domain(b, key)) return domain(a, key) < domain(b, key);
        }
        return false;
    };
    std::ranges::stable_sort(rank_of_slot_, before);
    groups_.clear();
    slot_of_rank_.resize(size());
    group_of_rank_.resize(size());
    for (std::uint32_t slot = 0; slot < size(); ++slot) {
        const std::uint32_t rank = rank_of_slot_[slot];
        if (slot == 0 || before(rank_of_slot_[slot - 1], rank)) groups_.push_back({.first = slot});
        Group& group = groups_.back();
        group.last = slot + 1;
        group.candidates += is_candidate(rank) ? 1 : 0;
        slot_of_rank_[rank] = slot;
        group_of_rank_[rank] = static_cast<std::uint32_t>(groups_.size() - 1);
    }
    best_by_group_.build(
        size(), [this](std::uint32_t a, std::uint32_t b) { return better(rank_of_slot_[a], rank_of_slot_[b]); });
}

std::uint32_t CostBoard::winner_of(const Group& group) const {
    const std::uint32_t slot =
        best_by_group_.winner_among(group.first, group.last, [this](std::uint32_t a, std::uint32_t b) {
            return better(rank_of_slot_[a], rank_of_slot_[b]);
        });
    if (slot == kNobody || !is_candidate(rank_of_slot_[slot])) return kNobody;
    return rank_of_slot_[slot];
}

}  // namespace reprieve
