// Resources: integer amounts by dimension (cpu in milli, memory and storage in bytes, all else in its own unit).
//
// Sparse and sorted by dimension; a dimension that is not listed differs from one listed as 0 only where a
// limit is meant (absent = unlimited, 0 = nothing). Equal amounts compare equal.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/id.h"

namespace reprieve {

using Dim = Id<struct DimTag>;

// Every vocabulary starts with these, in this order.
inline constexpr Dim kCpu{0};
inline constexpr Dim kMemory{1};
inline constexpr Dim kPods{2};
inline constexpr Dim kEphemeralStorage{3};

class Resources {
public:
    struct Amount {
        Dim dim;
        std::int64_t value = 0;
        friend auto operator<=>(const Amount&, const Amount&) = default;
    };

    // 0 where the dimension is not listed.
    [[nodiscard]] std::int64_t get(Dim dim) const;
    [[nodiscard]] const std::int64_t* find(Dim dim) const;
    [[nodiscard]] bool lists(Dim dim) const { return find(dim) != nullptr; }
    void set(Dim dim, std::int64_t value);
    void add(Dim dim, std::int64_t value);
    void erase(Dim dim);
    void add(const Resources& other);
    void subtract(const Resources& other);
    // Keeps the larger amount of each dimension.
    void raise_to(const Resources& other);
    void drop_zeros();
    [[nodiscard]] bool empty() const { return amounts_.empty(); }
    [[nodiscard]] std::size_t size() const { return amounts_.size(); }
    [[nodiscard]] auto begin() const { return amounts_.begin(); }
    [[nodiscard]] auto end() const { return amounts_.end(); }
    friend bool operator==(const Resources&, const Resources&) = default;

private:
    std::vector<Amount> amounts_;
};

// Sums that decide are checked: a + b, held at the largest int64 instead of wrapping.
[[nodiscard]] std::int64_t saturating_add(std::int64_t a, std::int64_t b);

}  // namespace reprieve
