#include "base/interner.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace reprieve {
namespace {
constexpr std::size_t kBlockBytes = std::size_t{64} * 1024;
constexpr std::size_t kFirstSlots = 256;
constexpr std::uint64_t kForgotten = 0;
}  // namespace

Interner::Interner() : slots_(kFirstSlots, kAbsent) {}

std::size_t Interner::slot_of(std::string_view text, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at] != kAbsent) {
        const std::uint32_t id = slots_[at];
        if (hashes_[id] == hash && views_[id] == text) return at;
        at = (at + 1) & mask;
    }
    return at;
}

std::uint32_t Interner::find(std::string_view text) const { return slots_[slot_of(text, hash_bytes(text))]; }

std::uint32_t Interner::intern(std::string_view text) {
    const std::uint64_t hash = hash_bytes(text);
    const std::size_t at = slot_of(text, hash);
    if (slots_[at] != kAbsent) return slots_[at];
    std::uint32_t id = 0;
    if (unused_.empty()) {
        id = static_cast<std::uint32_t>(views_.size());
        views_.push_back(store(text));
        hashes_.push_back(hash);
    } else {
        id = unused_.back();
        unused_.pop_back();
        views_[id] = store(text);
        hashes_[id] = hash;
    }
    slots_[at] = id;
    if (size() * 2 > slots_.size()) index(slots_.size() * 2);
    return id;
}

std::string_view Interner::store(std::string_view text) {
    if (text.empty()) return {};
    if (block_used_ + text.size() > block_size_) {
        block_size_ = std::max(kBlockBytes, text.size());
        blocks_.push_back(std::make_unique<char[]>(block_size_));
        block_used_ = 0;
    }
    char* to = blocks_.back().get() + block_used_;
    std::memcpy(to, text.data(), text.size());
    block_used_ += text.size();
    return {to, text.size()};
}

void Interner::sweep(const std::vector<bool>& in_use) {
    const std::vector<std::unique_ptr<char[]>> before = std::move(blocks_);
    blocks_.clear();
    block_used_ = block_size_ = 0;
    unused_.clear();
    for (std::uint32_t id = 0; id < views_.size(); ++id) {
        // Strings that came after the marks were made are in use.
        if (id >= in_use.size() || in_use[id]) {
            views_[id] = store(views_[id]);
        } else {
            views_[id] = {};
            hashes_[id] = kForgotten;
            unused_.push_back(id);
        }
    }
    // The lowest ids are given first, so that tables by id stay dense.
    std::ranges::reverse(unused_);
    std::size_t slots = kFirstSlots;
    while (slots < size() * 2)
        slots *= 2;
    index(slots);
}

void Interner::index(std::size_t slots) {
    slots_.assign(slots, kAbsent);
    const std::size_t mask = slots_.size() - 1;
    std::vector<bool> forgotten(views_.size());
    for (std::uint32_t id : unused_)
        forgotten[id] = true;
    for (std::uint32_t id = 0; id < views_.size(); ++id) {
        if (forgotten[id]) continue;
        std::size_t at = hashes_[id] & mask;
        while (slots_[at] != kAbsent)
            at = (at + 1) & mask;
        slots_[at] = id;
    }
}

std::size_t Interner::bytes() const {
    return blocks_.size() * kBlockBytes + views_.size() * (sizeof(std::string_view) + sizeof(std::uint64_t)) +
           slots_.size() * sizeof(std::uint32_t);
}

}  // namespace reprieve
