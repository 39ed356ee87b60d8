// Draw: random numbers that are the same everywhere.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace reprieve::oracle {

class Draw {
public:
    // Scrambled, so that neighbouring seeds have nothing in common: SplitMix64's states are multiples of one step.
    explicit Draw(std::uint64_t seed) : state_(seed) { state_ = next(); }

    // SplitMix64.
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // From `low` to `high`, both included.
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    int number(int low, int high) { return static_cast<int>(between(low, high)); }
    bool chance(int percent) { return between(0, 99) < percent; }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
    }

private:
    std::uint64_t state_;
};

}  // namespace reprieve::oracle
