#include "base/interner.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace reprieve {
namespace {
constexpr std::size_t kBlockBytes = std::size_t{64} * 1024;
constexpr std::size_t kFirstSlots = 256;
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
    const auto id = static_cast<std::uint32_t>(views_.size());
    views_.push_back(store(text));
    hashes_.push_back(hash);
    slots_[at] = id;
    if (views_.size() * 2 > slots_.size()) grow();
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

void Interner::grow() {
    slots_.assign(slots_.size() * 2, kAbsent);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < views_.size(); ++id) {
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
