// Expression: a device selector in CEL (cel.dev), as Kubernetes evaluates it for DeviceClasses and ResourceClaims.
//
// Parsed once into a flat tree and checked as far as types are known; evaluated any number of times, each time a pure
// function of the device. What lies outside the subset we know is refused when it is read, with its place in the
// text: an expression is never guessed at. Work is counted in steps, with upstream's limit.
//
// In the subset: || && ! == != < <= > >= in + - * / % ?: and parentheses; literals (int, double, string, bool, null,
// list); select and index, also optional (.? and [?]); has, all, exists, exists_one, map, filter, cel.bind; strings
// (contains, startsWith, endsWith, matches, size, lowerAscii, upperAscii, charAt, indexOf, lastIndexOf, substring,
// split, join, replace, trim); conversions (int, double, string, bool, dyn); optionals; quantity and semver libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/semver.h"
#include "base/wide.h"

namespace reprieve::cel {

struct Attribute {
    std::string_view domain;
    std::string_view id;
    std::variant<bool, std::int64_t, std::string_view, const Semver*> value;
};

struct Capacity {
    std::string_view domain;
    std::string_view id;
    Wide nano = 0;
};

// What an expression can see of a device. Both lists are sorted by (domain, id).
struct Device {
    std::string_view driver;
    bool allow_multiple_allocations = false;
    std::vector<Attribute> attributes;
    std::vector<Capacity> capacity;
};

inline constexpr std::size_t kTextMax = 10 * 1024;
inline constexpr std::int64_t kStepsMax = 1'000'000;

enum class NodeKind : std::uint8_t {
    kLiteral,
    kList,
    kVariable,  // `device`, or a name that a macro introduced
    kSelect,
    kOptionalSelect,
    kIndex,
    kOptionalIndex,
    kHas,
    kNot,
    kNegate,
    kAnd,  // of two or more
    kOr,
    kConditional,
    kBinary,  // the other operators
    kCall,
    kAll,
    kExists,
    kExistsOne,
    kMap,
    kFilter,
    kBind
};

enum class Operator : std::uint8_t {
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kIn,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kModulo
};

using Literal = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct TreeNode {
    NodeKind kind = NodeKind::kLiteral;
    Operator op = Operator::kEqual;
    std::uint16_t depth = 1;
    std::uint32_t place = 0;  // offset in the text
    std::uint32_t children_at = 0;
    std::uint32_t children = 0;
    // kVariable: slot, 0 is `device`. Macros: the slot they fill. kLiteral: index. kCall: first overload.
    std::uint32_t index = 0;
    std::uint32_t overloads = 0;
    std::string name;  // of a field or function
};

class Expression {
public:
    // The error names the place as line:column.
    [[nodiscard]] static Result<Expression> parse(std::string_view text);

    // The error says what went wrong, and where in the text.
    [[nodiscard]] Result<bool> matches(const Device& device) const;
    [[nodiscard]] const std::string& text() const { return text_; }

    // "line:column" of an offset.
    [[nodiscard]] static std::string place_in(std::string_view text, std::size_t offset);

private:
    friend class Parser;
    friend class Evaluation;

    std::string text_;
    std::vector<TreeNode> nodes_;
    std::vector<std::uint32_t> children_;
    std::vector<Literal> literals_;
    std::uint32_t root_ = 0;
    std::uint32_t slots_ = 1;
};

}  // namespace reprieve::cel
