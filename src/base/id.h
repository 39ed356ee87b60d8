// Typed 32-bit ids into dense vectors.
//
// An Id<NodeTag> cannot subscript a vector of pods. The default-constructed id is "none"; asking a
// none id for its index is a bug. Ids say nothing about order that a user could see: whoever breaks a
// tie compares names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace reprieve {

template <class Tag>
class Id {
public:
    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value_(static_cast<std::uint32_t>(index)) {}

    [[nodiscard]] constexpr bool valid() const { return value_ != kNone; }
    [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
    [[nodiscard]] constexpr std::size_t index() const { return value_; }
    constexpr explicit operator bool() const { return valid(); }
    friend constexpr auto operator<=>(Id, Id) = default;

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t value_ = kNone;
};

// A vector that only ids of one kind may subscript.
template <class IdType, class T>
class IdVector {
public:
    IdVector() = default;
    explicit IdVector(std::size_t size, T value = T{}) : items_(size, std::move(value)) {}

    T& operator[](IdType id) { return items_[id.index()]; }
    const T& operator[](IdType id) const { return items_[id.index()]; }
    IdType push_back(T value) {
        items_.push_back(std::move(value));
        return IdType(items_.size() - 1);
    }
    void resize(std::size_t size, const T& value = T{}) { items_.resize(size, value); }
    void reserve(std::size_t size) { items_.reserve(size); }
    void clear() { items_.clear(); }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] bool contains(IdType id) const { return id.valid() && id.index() < items_.size(); }
    auto begin() { return items_.begin(); }
    auto end() { return items_.end(); }
    auto begin() const { return items_.begin(); }
    auto end() const { return items_.end(); }
    T* data() { return items_.data(); }
    const T* data() const { return items_.data(); }
    friend bool operator==(const IdVector&, const IdVector&) = default;

private:
    std::vector<T> items_;
};

// All ids below `size`, for range-for over a dense table.
template <class IdType>
class IdRange {
public:
    explicit IdRange(std::size_t size) : size_(size) {}
    struct Iterator {
        std::size_t at;
        IdType operator*() const { return IdType(at); }
        Iterator& operator++() {
            ++at;
            return *this;
        }
        friend bool operator==(Iterator, Iterator) = default;
    };
    [[nodiscard]] Iterator begin() const { return {0}; }
    [[nodiscard]] Iterator end() const { return {size_}; }

private:
    std::size_t size_;
};

}  // namespace reprieve

template <class Tag>
struct std::hash<reprieve::Id<Tag>> {
    std::size_t operator()(reprieve::Id<Tag> id) const noexcept { return id.value() * 0x9E3779B97F4A7C15ULL; }
};
