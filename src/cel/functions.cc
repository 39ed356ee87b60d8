#include "cel/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/pattern.h"
#include "base/quantity.h"
#include "base/utf8.h"

namespace reprieve::cel {
namespace {

constexpr Kinds kB = only(Kind::kBool);
constexpr Kinds kI = only(Kind::kInt);
constexpr Kinds kD = only(Kind::kDouble);
constexpr Kinds kS = only(Kind::kString);
constexpr Kinds kQ = only(Kind::kQuantity);
constexpr Kinds kV = only(Kind::kSemver);
constexpr Kinds kL = only(Kind::kList);
constexpr Kinds kO = only(Kind::kOptional);
constexpr Kinds kAny = kAnything;

// --- strings: positions count code points

std::size_t length_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// The byte at which the code point with this number starts; npos: there are fewer.
std::size_t byte_at(std::string_view text, std::int64_t position) {
    if (position < 0) return std::string_view::npos;
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U) continue;
        if (seen++ == position) return i;
    }
    return seen == position ? text.size() : std::string_view::npos;
}

Value out_of_range(std::int64_t at, Arena& arena) {
    return error(arena.keep(fmt::format("index out of range: {}", at)));
}

Value contains(Arguments a, Arena& /*arena*/) { return boolean(a[0].text.find(a[1].text) != std::string_view::npos); }
Value starts_with(Arguments a, Arena& /*arena*/) { return boolean(a[0].text.starts_with(a[1].text)); }
Value ends_with(Arguments a, Arena& /*arena*/) { return boolean(a[0].text.ends_with(a[1].text)); }

Value matches(Arguments a, Arena& arena) {
    const auto pattern = Pattern::parse(a[1].text);
    if (!pattern) return error(arena.keep(fmt::format("invalid regular expression: {}", pattern.error().message)));
    return boolean(pattern->occurs_in(a[0].text));
}

Value string_size(Arguments a, Arena& /*arena*/) { return integer(static_cast<std::int64_t>(length_of(a[0].text))); }
Value list_size(Arguments a, Arena& /*arena*/) { return integer(static_cast<std::int64_t>(a[0].count)); }

template <char kFrom, char kTo>
Value change_case(Arguments a, Arena& arena) {
    std::string text(a[0].text);
    for (char& c : text) {
        if (c >= kFrom && c <= kTo) c = static_cast<char>(c ^ 0x20);
    }
    return text_value(arena.keep(std::move(text)));
}

Value char_at(Arguments a, Arena& arena) {
    const std::size_t from = byte_at(a[0].text, a[1].number);
    if (from == std::string_view::npos) return out_of_range(a[1].number, arena);
    std::string_view rest = a[0].text.substr(from);
    if (rest.empty()) return text_value("");
    const std::size_t before = rest.size();
    std::string_view tail = rest;
    static_cast<void>(take_code_point(tail));
    return text_value(rest.substr(0, before - tail.size()));
}

Value found_at(std::string_view text, std::size_t at) {
    return integer(at == std::string_view::npos ? -1 : static_cast<std::int64_t>(length_of(text.substr(0, at))));
}

// A search that starts behind the end finds nothing, which is no error; one before the start is.
Value index_of(Arguments a, Arena& arena) {
    if (a.size() > 2 && a[2].number < 0) return out_of_range(a[2].number, arena);
    const std::size_t from = a.size() > 2 ? byte_at(a[0].text, a[2].number) : 0;
    return found_at(a[0].text, a[0].text.find(a[1].text, std::min(from, a[0].text.size())));
}

Value last_index_of(Arguments a, Arena& arena) {
    if (a.size() > 2 && a[2].number < 0) return out_of_range(a[2].number, arena);
    const std::size_t from = a.size() > 2 ? byte_at(a[0].text, a[2].number) : a[0].text.size();
    const bool behind = a.size() > 2 && from >= a[0].text.size();
    if (behind && !a[1].text.empty()) return integer(-1);
    return found_at(a[0].text, a[0].text.rfind(a[1].text, from));
}

Value substring(Arguments a, Arena& arena) {
    const std::size_t from = byte_at(a[0].text, a[1].number);
    if (from == std::string_view::npos) return out_of_range(a[1].number, arena);
    const std::size_t to = a.size() > 2 ? byte_at(a[0].text, a[2].number) : a[0].text.size();
    if (to == std::string_view::npos) return out_of_range(a[2].number, arena);
    if (from > to)
        return error(arena.keep(fmt::format("invalid substring range. start: {}, end: {}", a[1].number, a[2].number)));
    return text_value(a[0].text.substr(from, to - from));
}

Value split(Arguments a, Arena& arena) {
    std::int64_t limit = a.size() > 2 ? a[2].number : -1;
    std::vector<Value> parts;
    std::string_view rest = a[0].text;
    if (limit == 0) return arena.list({});
    while (limit < 0 || static_cast<std::int64_t>(parts.size()) + 1 < limit) {
        if (a[1].text.empty()) {
            // Into code points.
            if (rest.empty()) return arena.list(std::move(parts));
            std::string_view tail = rest;
            static_cast<void>(take_code_point(tail));
            if (tail.empty()) break;
            parts.push_back(text_value(rest.substr(0, rest.size() - tail.size())));
            rest = tail;
            continue;
        }
        const std::size_t cut = rest.find(a[1].text);
        if (cut == std::string_view::npos) break;
        parts.push_back(text_value(rest.substr(0, cut)));
        rest.remove_prefix(cut + a[1].text.size());
    }
    parts.push_back(text_value(rest));
    return arena.list(std::move(parts));
}

Value join(Arguments a, Arena& arena) {
    std::string joined;
    for (std::size_t i = 0; i < a[0].count; ++i) {
        if (!a[0].items[i].is(Kind::kString)) return error(kNoOverload);
        if (i > 0 && a.size() > 1) joined.append(a[1].text);
        joined.append(a[0].items[i].text);
    }
    return text_value(arena.keep(std::move(joined)));
}

Value replace(Arguments a, Arena& arena) {
    std::int64_t left = a.size() > 3 && a[3].number >= 0 ? a[3].number : std::numeric_limits<std::int64_t>::max();
    std::string out;
    std::string_view rest = a[0].text;
    while (left > 0) {
        if (a[1].text.empty()) {
            // Between all code points, and at both ends.
            out.append(a[2].text);
            if (rest.empty()) break;
            std::string_view tail = rest;
            static_cast<void>(take_code_point(tail));
            out.append(rest.substr(0, rest.size() - tail.size()));
            rest = tail;
        } else {
            const std::size_t at = rest.find(a[1].text);
            if (at == std::string_view::npos) break;
            out.append(rest.substr(0, at)).append(a[2].text);
            rest.remove_prefix(at + a[1].text.size());
        }
        --left;
    }
    out.append(rest);
    return text_value(arena.keep(std::move(out)));
}

Value trim(Arguments a, Arena& /*arena*/) {
    constexpr std::string_view kSpace = " \t\n\r\v\f";
    const std::size_t from = a[0].text.find_first_not_of(kSpace);
    if (from == std::string_view::npos) return text_value("");
    return text_value(a[0].text.substr(from, a[0].text.find_last_not_of(kSpace) + 1 - from));
}

// --- conversions

Value same(Arguments a, Arena& /*arena*/) { return a[0]; }

Value int_of(Arguments a, Arena& arena) {
    if (a[0].is(Kind::kDouble)) {
        if (!(a[0].real > -9223372036854775808.0 && a[0].real < 9223372036854775808.0)) return error(kOverflow);
        return integer(static_cast<std::int64_t>(a[0].real));
    }
    std::int64_t value = 0;
    std::string_view digits = a[0].text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size())
        return error(arena.keep(fmt::format("type conversion error from 'string' to 'int': \"{}\"", a[0].text)));
    return integer(value);
}

Value double_of(Arguments a, Arena& arena) {
    if (a[0].is(Kind::kInt)) return real(static_cast<double>(a[0].number));
    double value = 0;
    const auto read = std::from_chars(a[0].text.data(), a[0].text.data() + a[0].text.size(), value);
    if (read.ec != std::errc{} || read.ptr != a[0].text.data() + a[0].text.size())
        return error(arena.keep(fmt::format("type conversion error from 'string' to 'double': \"{}\"", a[0].text)));
    return real(value);
}

Value string_of(Arguments a, Arena& arena) {
    if (a[0].is(Kind::kBool)) return text_value(a[0].truth ? "true" : "false");
    if (a[0].is(Kind::kInt)) return text_value(arena.keep(fmt::format("{}", a[0].number)));
    return text_value(arena.keep(fmt::format("{}", a[0].real)));
}

Value bool_of(Arguments a, Arena& arena) {
    constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
    constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};
    if (std::ranges::find(kTrue, a[0].text) != std::end(kTrue)) return boolean(true);
    if (std::ranges::find(kFalse, a[0].text) != std::end(kFalse)) return boolean(false);
    return error(arena.keep(fmt::format("type conversion error from 'string' to 'bool': \"{}\"", a[0].text)));
}

// --- optionals

Value has_value(Arguments a, Arena& /*arena*/) { return boolean(a[0].count > 0); }
Value value_of(Arguments a, Arena& /*arena*/) {
    return a[0].count > 0 ? a[0].items[0] : error("optional.none() dereference");
}
Value or_value(Arguments a, Arena& /*arena*/) { return a[0].count > 0 ? a[0].items[0] : a[1]; }
Value or_other(Arguments a, Arena& /*arena*/) { return a[0].count > 0 ? a[0] : a[1]; }
Value optional_of(Arguments a, Arena& arena) { return arena.some(a[0]); }
Value optional_none(Arguments /*a*/, Arena& /*arena*/) { return none(); }

// --- quantities

Value quantity_of(Arguments a, Arena& arena) {
    const auto nano = parse_nano_quantity(a[0].text);
    return nano ? quantity(*nano) : error(arena.keep(nano.error().message));
}
Value is_quantity(Arguments a, Arena& /*arena*/) { return boolean(parse_nano_quantity(a[0].text).has_value()); }
int order(const Value& a, const Value& b) {
    if (a.is(Kind::kSemver)) return *a.version < *b.version ? -1 : *a.version == *b.version ? 0 : 1;
    return a.nano < b.nano ? -1 : a.nano == b.nano ? 0 : 1;
}
Value is_greater(Arguments a, Arena& /*arena*/) { return boolean(order(a[0], a[1]) > 0); }
Value is_less(Arguments a, Arena& /*arena*/) { return boolean(order(a[0], a[1]) < 0); }
Value compare_to(Arguments a, Arena& /*arena*/) { return integer(order(a[0], a[1])); }
Wide nano_of(const Value& v) { return v.is(Kind::kInt) ? static_cast<Wide>(v.number) * kNanoPerUnit : v.nano; }
Value sum_of(Wide a, Wide b) {
    Wide sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? error("quantity overflow") : quantity(sum);
}
Value add_quantity(Arguments a, Arena& /*arena*/) { return sum_of(a[0].nano, nano_of(a[1])); }
Value subtract_quantity(Arguments a, Arena& /*arena*/) { return sum_of(a[0].nano, -nano_of(a[1])); }
Value sign_of(Arguments a, Arena& /*arena*/) { return integer(a[0].nano < 0 ? -1 : a[0].nano > 0 ? 1 : 0); }
bool is_int64(Wide nano) {
    const Wide whole = nano / kNanoPerUnit;
    return nano % kNanoPerUnit == 0 && whole <= std::numeric_limits<std::int64_t>::max() &&
           whole >= std::numeric_limits<std::int64_t>::min();
}
Value is_integer(Arguments a, Arena& /*arena*/) { return boolean(is_int64(a[0].nano)); }
Value as_integer(Arguments a, Arena& /*arena*/) {
    if (!is_int64(a[0].nano)) return error("cannot convert value to integer");
    return integer(static_cast<std::int64_t>(a[0].nano / kNanoPerUnit));
}
Value as_float(Arguments a, Arena& /*arena*/) {
    return real(static_cast<double>(a[0].nano) / static_cast<double>(kNanoPerUnit));
}

// --- versions

Value semver_of(Arguments a, Arena& arena) {
    auto version = Semver::parse(a[0].text, a.size() > 1 && a[1].truth);
    if (!version) return error(arena.keep(version.error().message));
    return {.kind = Kind::kSemver, .version = arena.keep(std::move(*version))};
}
Value is_semver(Arguments a, Arena& /*arena*/) {
    return boolean(Semver::parse(a[0].text, a.size() > 1 && a[1].truth).has_value());
}
Value part_of(std::uint64_t part) {
    if (part > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return error(kOverflow);
    return integer(static_cast<std::int64_t>(part));
}
Value major(Arguments a, Arena& /*arena*/) { return part_of(a[0].version->major); }
Value minor(Arguments a, Arena& /*arena*/) { return part_of(a[0].version->minor); }
Value patch(Arguments a, Arena& /*arena*/) { return part_of(a[0].version->patch); }

constexpr Overload function(std::string_view name, Kinds accepts, Kinds result, Value (*run)(Arguments, Arena&)) {
    return {name, false, 1, {accepts}, result, run};
}

constexpr Overload kOverloads[] = {
    {"contains", true, 2, {kS, kS}, kB, contains},
    {"startsWith", true, 2, {kS, kS}, kB, starts_with},
    {"endsWith", true, 2, {kS, kS}, kB, ends_with},
    {"matches", true, 2, {kS, kS}, kB, matches},
    {"matches", false, 2, {kS, kS}, kB, matches},
    {"size", true, 1, {kS}, kI, string_size},
    {"size", true, 1, {kL | kMaps}, kI, list_size},
    {"size", false, 1, {kS}, kI, string_size},
    {"size", false, 1, {kL | kMaps}, kI, list_size},
    {"lowerAscii", true, 1, {kS}, kS, change_case<'A', 'Z'>},
    {"upperAscii", true, 1, {kS}, kS, change_case<'a', 'z'>},
    {"charAt", true, 2, {kS, kI}, kS, char_at},
    {"indexOf", true, 2, {kS, kS}, kI, index_of},
    {"indexOf", true, 3, {kS, kS, kI}, kI, index_of},
    {"lastIndexOf", true, 2, {kS, kS}, kI, last_index_of},
    {"lastIndexOf", true, 3, {kS, kS, kI}, kI, last_index_of},
    {"substring", true, 2, {kS, kI}, kS, substring},
    {"substring", true, 3, {kS, kI, kI}, kS, substring},
    {"split", true, 2, {kS, kS}, kL, split},
    {"split", true, 3, {kS, kS, kI}, kL, split},
    {"join", true, 1, {kL}, kS, join},
    {"join", true, 2, {kL, kS}, kS, join},
    {"replace", true, 3, {kS, kS, kS}, kS, replace},
    {"replace", true, 4, {kS, kS, kS, kI}, kS, replace},
    {"trim", true, 1, {kS}, kS, trim},
    function("int", kI, kI, same),
    function("int", kD | kS, kI, int_of),
    function("double", kD, kD, same),
    function("double", kI | kS, kD, double_of),
    function("string", kS, kS, same),
    function("string", kB | kI | kD, kS, string_of),
    function("bool", kB, kB, same),
    function("bool", kS, kB, bool_of),
    function("dyn", kAny, kAny, same),
    {"hasValue", true, 1, {kO}, kB, has_value},
    {"value", true, 1, {kO}, kAny, value_of},
    {"orValue", true, 2, {kO, kAny}, kAny, or_value},
    {"or", true, 2, {kO, kO}, kO, or_other},
    function("optional.of", kAny, kO, optional_of),
    {"optional.none", false, 0, {}, kO, optional_none},
    function("quantity", kS, kQ, quantity_of),
    function("isQuantity", kS, kB, is_quantity),
    {"isGreaterThan", true, 2, {kQ, kQ}, kB, is_greater},
    {"isGreaterThan", true, 2, {kV, kV}, kB, is_greater},
    {"isLessThan", true, 2, {kQ, kQ}, kB, is_less},
    {"isLessThan", true, 2, {kV, kV}, kB, is_less},
    {"compareTo", true, 2, {kQ, kQ}, kI, compare_to},
    {"compareTo", true, 2, {kV, kV}, kI, compare_to},
    {"add", true, 2, {kQ, kQ | kI}, kQ, add_quantity},
    {"sub", true, 2, {kQ, kQ | kI}, kQ, subtract_quantity},
    {"sign", true, 1, {kQ}, kI, sign_of},
    {"sign", false, 1, {kQ}, kI, sign_of},
    {"isInteger", true, 1, {kQ}, kB, is_integer},
    {"asInteger", true, 1, {kQ}, kI, as_integer},
    {"asApproximateFloat", true, 1, {kQ}, kD, as_float},
    function("semver", kS, kV, semver_of),
    {"semver", false, 2, {kS, kB}, kV, semver_of},
    function("isSemver", kS, kB, is_semver),
    {"isSemver", false, 2, {kS, kB}, kB, is_semver},
    {"major", true, 1, {kV}, kI, major},
    {"minor", true, 1, {kV}, kI, minor},
    {"patch", true, 1, {kV}, kI, patch},
};

// Exact, also where an int is beyond 2^53.
int compare_numbers(const Value& a, const Value& b, bool& comparable) {
    comparable = true;
    if (a.is(Kind::kInt) && b.is(Kind::kInt)) return a.number < b.number ? -1 : a.number == b.number ? 0 : 1;
    const auto wide = [](const Value& v) {
        return v.is(Kind::kInt) ? static_cast<long double>(v.number) : static_cast<long double>(v.real);
    };
    const long double x = wide(a);
    const long double y = wide(b);
    comparable = !std::isnan(x) && !std::isnan(y);
    return x < y ? -1 : x == y ? 0 : 1;
}

bool is_number(const Value& v) { return v.is(Kind::kInt) || v.is(Kind::kDouble); }

}  // namespace

std::span<const Overload> overloads() { return kOverloads; }

const char* kind_name(Kind kind) {
    constexpr const char* kNames[] = {"null_type",
                                      "bool",
                                      "int",
                                      "double",
                                      "string",
                                      "quantity",
                                      "semver",
                                      "list",
                                      "optional",
                                      "device",
                                      "map",
                                      "map",
                                      "map",
                                      "map",
                                      "error"};
    return kNames[static_cast<std::size_t>(kind)];
}

bool same_value(const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) {
        bool comparable = false;
        return compare_numbers(a, b, comparable) == 0 && comparable;
    }
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case Kind::kNull:
        case Kind::kDevice:
        case Kind::kAttributeDomains:
        case Kind::kCapacityDomains:
            return true;
        case Kind::kBool:
            return a.truth == b.truth;
        case Kind::kString:
        case Kind::kAttributes:
        case Kind::kCapacities:
            return a.text == b.text;
        case Kind::kQuantity:
            return a.nano == b.nano;
        case Kind::kSemver:
            return *a.version == *b.version;
        case Kind::kList:
        case Kind::kOptional:
            return std::equal(a.items, a.items + a.count, b.items, b.items + b.count, same_value);
        default:
            return false;
    }
}

Value compare_values(const Value& a, const Value& b, bool (*holds)(int)) {
    if (is_number(a) && is_number(b)) {
        bool comparable = false;
        const int result = compare_numbers(a, b, comparable);
        return boolean(comparable && holds(result));
    }
    if (a.kind != b.kind) return error(kNoOverload);
    if (a.is(Kind::kString)) return boolean(holds(a.text.compare(b.text)));
    if (a.is(Kind::kBool)) return boolean(holds(static_cast<int>(a.truth) - static_cast<int>(b.truth)));
    return error(kNoOverload);
}

Value add_values(const Value& a, const Value& b, Arena& arena) {
    if (a.kind != b.kind) return error(kNoOverload);
    if (a.is(Kind::kInt)) {
        std::int64_t sum = 0;
        return __builtin_add_overflow(a.number, b.number, &sum) ? error(kOverflow) : integer(sum);
    }
    if (a.is(Kind::kDouble)) return real(a.real + b.real);
    if (a.is(Kind::kString)) return text_value(arena.keep(std::string(a.text).append(b.text)));
    if (!a.is(Kind::kList)) return error(kNoOverload);
    std::vector<Value> both(a.items, a.items + a.count);
    both.insert(both.end(), b.items, b.items + b.count);
    return arena.list(std::move(both));
}

Value subtract_values(const Value& a, const Value& b) {
    if (a.kind != b.kind) return error(kNoOverload);
    if (a.is(Kind::kDouble)) return real(a.real - b.real);
    std::int64_t result = 0;
    if (!a.is(Kind::kInt)) return error(kNoOverload);
    return __builtin_sub_overflow(a.number, b.number, &result) ? error(kOverflow) : integer(result);
}

Value multiply_values(const Value& a, const Value& b) {
    if (a.kind != b.kind) return error(kNoOverload);
    if (a.is(Kind::kDouble)) return real(a.real * b.real);
    std::int64_t result = 0;
    if (!a.is(Kind::kInt)) return error(kNoOverload);
    return __builtin_mul_overflow(a.number, b.number, &result) ? error(kOverflow) : integer(result);
}

Value divide_values(const Value& a, const Value& b) {
    if (a.kind != b.kind) return error(kNoOverload);
    if (a.is(Kind::kDouble)) {
        // IEEE division by zero is a value in CEL; C++ leaves it to the machine, which does the same.
        return b.real == 0 ? real(a.real == 0 || std::isnan(a.real)
                                      ? std::numeric_limits<double>::quiet_NaN()
                                      : std::copysign(std::numeric_limits<double>::infinity(),
                                                      std::copysign(1.0, a.real) * std::copysign(1.0, b.real)))
                           : real(a.real / b.real);
    }
    if (!a.is(Kind::kInt)) return error(kNoOverload);
    if (b.number == 0) return error("division by zero");
    if (a.number == std::numeric_limits<std::int64_t>::min() && b.number == -1) return error(kOverflow);
    return integer(a.number / b.number);
}

Value modulo_values(const Value& a, const Value& b) {
    if (!a.is(Kind::kInt) || !b.is(Kind::kInt)) return error(kNoOverload);
    if (b.number == 0) return error("modulus by zero");
    if (b.number == -1) return a.number == std::numeric_limits<std::int64_t>::min() ? error(kOverflow) : integer(0);
    return integer(a.number % b.number);
}

}  // namespace reprieve::cel
