// FlatIndex: a hash index from a key that lives elsewhere to its dense id. Eight bytes per entry, no allocation per
// entry.
//
// The caller gives the hash and says whether an id is the one meant; the index stores only ids and hash bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprieve {

template <class IdType>
class FlatIndex {
public:
    FlatIndex() : slots_(kFirstSlots) {}

    // `same(id)` says whether the entry is the one looked for.
    template <class Same>
    [[nodiscard]] IdType find(std::uint64_t hash, Same same) const {
        for (std::size_t at = hash & mask(); slots_[at].state != kEmpty; at = (at + 1) & mask()) {
            const Slot& slot = slots_[at];
            if (slot.state == kUsed && slot.bits == bits_of(hash) && same(slot.id)) return slot.id;
        }
        return IdType();
    }

    // REQUIRES: the key is not in the index.
    void insert(std::uint64_t hash, IdType id) {
        if ((filled_ + 1) * 3 > slots_.size() * 2) needs_room_ = true;
        std::size_t at = hash & mask();
        while (slots_[at].state == kUsed)
            at = (at + 1) & mask();
        if (slots_[at].state == kEmpty) ++filled_;
        slots_[at] = {id, bits_of(hash), kUsed};
        ++size_;
    }

    template <class Same>
    void erase(std::uint64_t hash, Same same) {
        for (std::size_t at = hash & mask(); slots_[at].state != kEmpty; at = (at + 1) & mask()) {
            Slot& slot = slots_[at];
            if (slot.state == kUsed && slot.bits == bits_of(hash) && same(slot.id)) {
                slot = {IdType(), 0, kErased};
                --size_;
                return;
            }
        }
    }

    // The index does not know its keys: the owner re-inserts them when it has become too full.
    [[nodiscard]] bool needs_room() const { return needs_room_; }
    template <class HashOf>
    void make_room(HashOf hash_of) {
        std::vector<Slot> old(slots_.size() * (size_ * 3 > slots_.size() ? 2 : 1));
        old.swap(slots_);
        filled_ = 0;
        size_ = 0;
        needs_room_ = false;
        for (const Slot& slot : old) {
            if (slot.state == kUsed) insert(hash_of(slot.id), slot.id);
        }
        needs_room_ = false;
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::size_t kFirstSlots = 64;
    enum State : std::uint8_t { kEmpty, kUsed, kErased };
    struct Slot {
        IdType id;
        std::uint16_t bits = 0;
        State state = kEmpty;
    };
    [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
    static std::uint16_t bits_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash >> 48U); }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
    std::size_t filled_ = 0;
    bool needs_room_ = false;
};

}  // namespace reprieve
