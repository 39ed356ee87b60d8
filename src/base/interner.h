// Interner: equal strings get equal 32-bit ids; views stay valid as long as the Interner lives.
//
// Ids are given in order of arrival, so they must never decide a tie that a user can see. Strings are
// never forgotten; a long-running owner rebuilds instead.
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
    [[nodiscard]] std::size_t size() const { return views_.size(); }
    [[nodiscard]] std::size_t bytes() const;

    static constexpr std::uint32_t kAbsent = 0xFFFFFFFFU;

private:
    std::string_view store(std::string_view text);
    void grow();
    [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;

    std::vector<std::string_view> views_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::uint32_t> slots_;  // open addressing, power of two, kAbsent = empty
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t block_used_ = 0;
    std::size_t block_size_ = 0;
};

}  // namespace reprieve
