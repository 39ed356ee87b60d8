// The functions that expressions may call: one table of overloads, used to check an expression when it is read and to
// choose the code when it is evaluated.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "cel/value.h"

namespace reprieve::cel {

inline constexpr std::size_t kArgumentsMax = 4;

using Arguments = std::span<const Value>;

struct Overload {
    std::string_view name;
    bool method = false;  // the first argument stands before the dot
    std::uint8_t count = 0;
    std::array<Kinds, kArgumentsMax> accepts{};
    Kinds result = 0;
    Value (*run)(Arguments, Arena&) = nullptr;
};

// Overloads of one name and style stand together.
[[nodiscard]] std::span<const Overload> overloads();

// The operators that are not decided by the tree itself.
[[nodiscard]] Value compare_values(const Value& a, const Value& b, bool (*holds)(int));
[[nodiscard]] Value add_values(const Value& a, const Value& b, Arena& arena);
[[nodiscard]] Value subtract_values(const Value& a, const Value& b);
[[nodiscard]] Value multiply_values(const Value& a, const Value& b);
[[nodiscard]] Value divide_values(const Value& a, const Value& b);
[[nodiscard]] Value modulo_values(const Value& a, const Value& b);

inline constexpr std::string_view kNoOverload = "no such overload";
inline constexpr std::string_view kOverflow = "integer overflow";

}  // namespace reprieve::cel
