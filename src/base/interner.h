// Interner: equal strings get equal 32-bit ids; views stay valid until the next sweep.
//
// Ids are given in order of arrival, and those of forgotten strings again, so they must never decide a tie that a user
// can see. Strings are forgotten by a sweep alone: its caller says which are still in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace reprieve {

class Interner {
public:
    Interner();
    Interner(const Interner&) = delete;
    Interner& operator=(const Interner&) = delete;

    std::uint32_t intern(std::string_view text);
    // The id of a string seen before, or kAbsent.
    [[nodiscard]] std::uint32_t find(std::string_view text) const;
    [[nodiscard]] std::string_view view(std::uint32_t id) const { return views_[id]; }
    // Ids in use are below this.
    [[nodiscard]] std::size_t slots() const { return views_.size(); }
    [[nodiscard]] std::size_t size() const { return views_.size() - unused_.size(); }
    // Forgets every string whose id is not marked. The others keep their ids, and move.
    void sweep(const std::vector<bool>& in_use);
    [[nodiscard]] std::size_t bytes() const;

    static constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;

private:
    std::string_view store(std::string_view text);
    void index(std::size_t slots);
    [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;

    std::vector<std::string_view> views_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> slots_;  // open addressing, power of two, kAbsent = empty
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::vector<std::uint32_t> unused_;
    std::size_t block_used_ = 0;
    std::size_t block_size_ = 0;
};

}  // namespace reprieve
