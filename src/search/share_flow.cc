#include "search/share_flow.h"

#include <algorithm>

namespace reprieve {

ShareFlow::ShareFlow(std::vector<Slot> slots, std::vector<std::uint32_t> needs, std::vector<Wide> weights)
    : slots_(std::move(slots)),
      needs_(std::move(needs)),
      weights_(std::move(weights)) {
    for (Wide weight : weights_)
        all_ += weight;
    const auto first_unit = kFirstSlot + static_cast<std::uint32_t>(slots_.size());
    // In this order: the source to slot i is edge 2i, need j is edge 2 (slots + j).
    for (std::uint32_t s = 0; s < slots_.size(); ++s)
        connect(kSource, kFirstSlot + s, slots_[s].bonus);
    std::uint32_t owner = 0;
    for (std::uint32_t n = 0; n < needs_.size(); ++n) {
        while (n >= slots_[owner].first + slots_[owner].count)
            ++owner;
        connect(kFirstSlot + owner, first_unit + needs_[n], all_ + 1);
    }
    for (std::uint32_t s = 0; s < slots_.size(); ++s) {
        if (slots_[s].before >= 0)
            connect(kFirstSlot + s, kFirstSlot + static_cast<std::uint32_t>(slots_[s].before), all_ + 1);
    }
    for (std::uint32_t u = 0; u < weights_.size(); ++u)
        connect(first_unit + u, kSink, weights_[u]);
    index_edges();
}

void ShareFlow::connect(std::uint32_t from, std::uint32_t to, Wide most) {
    edges_.push_back({.to = to, .left = most});
    edges_.push_back({.to = from, .left = 0});
    from_.push_back(from);
    from_.push_back(to);
}

void ShareFlow::index_edges() {
    const std::size_t vertices = kFirstSlot + slots_.size() + weights_.size();
    first_.assign(vertices + 1, 0);
    for (std::uint32_t from : from_)
        ++first_[from + 1];
    for (std::size_t v = 0; v < vertices; ++v)
        first_[v + 1] += first_[v];
    out_.resize(edges_.size());
    std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
    for (std::uint32_t e = 0; e < edges_.size(); ++e)
        out_[at[from_[e]]++] = e;
}

// Raises the price of a slot and lets flow what can.
void ShareFlow::fill(Wide price, Wide from_price) {
    for (std::size_t s = 0; s < slots_.size(); ++s)
        edges_[2 * s].left += slots_[s].is_bonus ? 0 : price - from_price;
    while (find_levels()) {
        next_.assign(first_.begin(), first_.end() - 1);
        push(kSource, all_ + 1);
    }
}

bool ShareFlow::find_levels() {
    level_.assign(first_.size() - 1, -1);
    level_[kSource] = 0;
    std::vector<std::uint32_t> queue{kSource};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::uint32_t at = queue[i];
        for (std::uint32_t o = first_[at]; o < first_[at + 1]; ++o) {
            const Edge& edge = edges_[out_[o]];
            ++looks_;
            if (edge.left <= 0 || level_[edge.to] >= 0) continue;
            level_[edge.to] = level_[at] + 1;
            queue.push_back(edge.to);
        }
    }
    return level_[kSink] >= 0;
}

Wide ShareFlow::push(std::uint32_t at, Wide most) {
    if (at == kSink) return most;
    Wide pushed = 0;
    for (std::uint32_t& o = next_[at]; o < first_[at + 1]; ++o) {
        Edge& edge = edges_[out_[o]];
        ++looks_;
        if (edge.left <= 0 || level_[edge.to] != level_[at] + 1) continue;
        const Wide through = push(edge.to, std::min(most - pushed, edge.left));
        edge.left -= through;
        edges_[out_[o] ^ 1U].left += through;
        pushed += through;
        if (pushed == most) return pushed;  // this edge may have more
    }
    return pushed;
}

// Slots that still get more than they can pass on: the fewest that are worth the price.
std::vector<bool> ShareFlow::fed() const {
    std::vector<bool> out(slots_.size());
    for (std::size_t s = 0; s < slots_.size(); ++s)
        out[s] = level_[kFirstSlot + s] >= 0;
    return out;
}

// Slots from which nothing more reaches the sink: the most that are worth it.
std::vector<bool> ShareFlow::not_drained() const {
    std::vector<bool> drains(first_.size() - 1);
    drains[kSink] = true;
    std::vector<std::uint32_t> queue{kSink};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (std::uint32_t o = first_[queue[i]]; o < first_[queue[i] + 1]; ++o) {
            const std::uint32_t back = out_[o] ^ 1U;
            const std::uint32_t from = from_[back];
            if (edges_[back].left <= 0 || drains[from]) continue;
            drains[from] = true;
            queue.push_back(from);
        }
    }
    std::vector<bool> out(slots_.size());
    for (std::size_t s = 0; s < slots_.size(); ++s)
        out[s] = !drains[kFirstSlot + s];
    return out;
}

ShareFlow::Line ShareFlow::line_of(const std::vector<bool>& chosen) const {
    Line out;
    std::vector<bool> goes(weights_.size());
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        if (!chosen[s]) continue;
        out.slots += slots_[s].is_bonus ? 0 : 1;
        out.weight -= slots_[s].bonus;
        for (std::uint32_t n = slots_[s].first; n < slots_[s].first + slots_[s].count; ++n) {
            if (!goes[needs_[n]]) out.weight += weights_[needs_[n]];
            goes[needs_[n]] = true;
        }
    }
    return out;
}

// The value of a price is a concave function, the least of all lines. Between a price at which too few slots are worth
// it and one at which too many are, the crossing of their lines is the next one to try.
bool ShareFlow::solve(std::int64_t wanted, std::int64_t most_looks) {
    surely_.assign(slots_.size(), false);
    perhaps_.assign(slots_.size(), true);
    Wide low_price = 0;
    Wide high_price = all_ + 1;
    Line high = line_of(perhaps_);
    fill(0, 0);
    surely_ = fed();
    Line low = line_of(surely_);
    std::vector<Edge> at_low = edges_;
    while (looks_ < most_looks) {
        const Wide crossing =
            high.slots == wanted ? high_price - 1 : (high.weight - low.weight) / (high.slots - low.slots);
        const Wide price = std::min(std::max(crossing, low_price + 1), high_price - 1);
        if (price <= low_price) {
            edges_ = std::move(at_low);
            return true;
        }
        edges_ = at_low;
        fill(price, low_price);
        std::vector<bool> fewest = fed();
        std::vector<bool> most = not_drained();
        const Line least = line_of(fewest);
        const Line largest = line_of(most);
        if (least.slots <= wanted && largest.slots >= wanted) {
            // As many as are wanted need not be chosen by halves.
            surely_ = largest.slots == wanted ? most : fewest;
            perhaps_ = least.slots == wanted ? std::move(fewest) : std::move(most);
            return true;
        }
        if (largest.slots < wanted) {
            surely_ = std::move(most);
            low = largest;
            low_price = price;
            at_low = edges_;
        } else {
            perhaps_ = std::move(fewest);
            high = least;
            high_price = price;
        }
    }
    return false;
}

std::vector<Wide> ShareFlow::paid() const {
    std::vector<Wide> out(needs_.size());
    for (std::size_t n = 0; n < needs_.size(); ++n)
        out[n] = edges_[2 * (slots_.size() + n) + 1].left;  // what could flow back
    return out;
}

}  // namespace reprieve
