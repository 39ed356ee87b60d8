// Value: what an expression computes with. Texts, lists and versions are borrowed from the device, the expression, or
// the Arena of one evaluation; none of them outlives that.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/semver.h"
#include "base/wide.h"

namespace reprieve::cel {

enum class Kind : std::uint8_t {
    kNull,
    kBool,
    kInt,
    kDouble,
    kString,
    kQuantity,
    kSemver,
    kList,
    kOptional,
    kDevice,
    kAttributeDomains,  // device.attributes
    kCapacityDomains,   // device.capacity
    kAttributes,        // of one domain
    kCapacities,
    kError
};

// A set of kinds: what a function accepts, or what is known of an operand before anything is evaluated.
using Kinds = std::uint16_t;
constexpr Kinds only(Kind kind) { return static_cast<Kinds>(1U << static_cast<unsigned>(kind)); }
inline constexpr Kinds kMaps =
    only(Kind::kAttributeDomains) | only(Kind::kCapacityDomains) | only(Kind::kAttributes) | only(Kind::kCapacities);
inline constexpr Kinds kNumbers = only(Kind::kInt) | only(Kind::kDouble);
inline constexpr Kinds kAnything = static_cast<Kinds>(~only(Kind::kError));
// What an attribute may turn out to be.
inline constexpr Kinds kAttributeKinds =
    only(Kind::kBool) | only(Kind::kInt) | only(Kind::kString) | only(Kind::kSemver);

struct Value {
    Kind kind = Kind::kNull;
    bool truth = false;
    std::uint32_t place = 0;  // of an error: where in the text
    std::int64_t number = 0;
    double real = 0;
    Wide nano = 0;
    std::string_view text;  // a string, an error's sentence, the domain of a map
    const Semver* version = nullptr;
    const Value* items = nullptr;  // of a list; of an optional that has a value
    std::size_t count = 0;

    [[nodiscard]] bool is(Kind k) const { return kind == k; }
    [[nodiscard]] bool is_error() const { return kind == Kind::kError; }
};

[[nodiscard]] inline Value boolean(bool truth) { return {.kind = Kind::kBool, .truth = truth}; }
[[nodiscard]] inline Value integer(std::int64_t n) { return {.kind = Kind::kInt, .number = n}; }
[[nodiscard]] inline Value real(double x) { return {.kind = Kind::kDouble, .real = x}; }
[[nodiscard]] inline Value text_value(std::string_view text) { return {.kind = Kind::kString, .text = text}; }
[[nodiscard]] inline Value quantity(Wide nano) { return {.kind = Kind::kQuantity, .nano = nano}; }
[[nodiscard]] inline Value none() { return {.kind = Kind::kOptional}; }
// The place is filled in by the node that meets the error first.
[[nodiscard]] inline Value error(std::string_view sentence) { return {.kind = Kind::kError, .text = sentence}; }

// Owns what one evaluation makes up.
class Arena {
public:
    std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
    const Semver* keep(Semver version) { return &versions_.emplace_back(std::move(version)); }
    const std::vector<Value>& keep(std::vector<Value> values) { return lists_.emplace_back(std::move(values)); }
    [[nodiscard]] Value list(std::vector<Value> values) {
        const std::vector<Value>& kept = keep(std::move(values));
        return {.kind = Kind::kList, .items = kept.data(), .count = kept.size()};
    }
    [[nodiscard]] Value some(const Value& value) {
        return {.kind = Kind::kOptional, .items = keep(std::vector<Value>{value}).data(), .count = 1};
    }

private:
    std::deque<std::string> texts_;
    std::deque<Semver> versions_;
    std::deque<std::vector<Value>> lists_;
};

// Equality across types is false; numbers are equal by value.
[[nodiscard]] bool same_value(const Value& a, const Value& b);
[[nodiscard]] const char* kind_name(Kind kind);

}  // namespace reprieve::cel
