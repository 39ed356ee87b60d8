// Evaluating an expression on one device. An error is a value like any other until it reaches the root: && and || and
// the macros built on them let another operand decide all the same.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "cel/expression.h"
#include "cel/functions.h"
#include "cel/value.h"

namespace reprieve::cel {
namespace {

constexpr std::size_t kTextPerStep = 16;

Value to_value(const Attribute& attribute) {
    if (const bool* truth = std::get_if<bool>(&attribute.value)) return boolean(*truth);
    if (const auto* number = std::get_if<std::int64_t>(&attribute.value)) return integer(*number);
    if (const auto* text = std::get_if<std::string_view>(&attribute.value)) return text_value(*text);
    return {.kind = Kind::kSemver, .version = std::get<const Semver*>(attribute.value)};
}

bool is_map(const Value& v) { return (only(v.kind) & kMaps) != 0; }

template <class Entry>
std::size_t domains_in(const std::vector<Entry>& entries) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < entries.size(); ++i)
        count += i == 0 || entries[i].domain != entries[i - 1].domain ? 1U : 0U;
    return count;
}

template <class Entry>
std::span<const Entry> entries_of(const std::vector<Entry>& entries, std::string_view domain) {
    return std::ranges::equal_range(entries, domain, {}, &Entry::domain);
}

}  // namespace

class Evaluation {
public:
    Evaluation(const Expression& expression, const Device& device)
        : expression_(expression),
          device_(device),
          slots_(expression.slots_) {
        slots_[0] = {.kind = Kind::kDevice};
    }

    Value run() { return eval(expression_.root_); }

private:
    [[nodiscard]] std::uint32_t child(const TreeNode& node, std::size_t i) const {
        return expression_.children_[node.children_at + i];
    }
    Value eval_child(const TreeNode& node, std::size_t i) { return eval(child(node, i)); }
    bool spend(std::size_t steps) {
        steps_ += static_cast<std::int64_t>(steps);
        return steps_ <= kStepsMax;
    }

    Value eval(std::uint32_t at) {
        const TreeNode& node = expression_.nodes_[at];
        Value value = spend(1) ? dispatch(node) : error("operation cancelled: actual cost limit exceeded");
        if (value.is_error() && value.place == 0) value.place = node.place + 1;
        return value;
    }

    Value dispatch(const TreeNode& node) {
        switch (node.kind) {
            case NodeKind::kLiteral:
                return literal(expression_.literals_[node.index]);
            case NodeKind::kList:
                return list(node);
            case NodeKind::kVariable:
                return slots_[node.index];
            case NodeKind::kSelect:
            case NodeKind::kOptionalSelect: {
                const Value operand = eval_child(node, 0);
                return take(operand, text_value(node.name), node.kind == NodeKind::kOptionalSelect);
            }
            case NodeKind::kIndex:
            case NodeKind::kOptionalIndex: {
                const Value operand = eval_child(node, 0);
                if (operand.is_error()) return operand;
                const Value key = eval_child(node, 1);
                return key.is_error() ? key : take(operand, key, node.kind == NodeKind::kOptionalIndex);
            }
            case NodeKind::kHas:
                return has(node);
            case NodeKind::kNot: {
                const Value operand = eval_child(node, 0);
                if (operand.is_error()) return operand;
                return operand.is(Kind::kBool) ? boolean(!operand.truth) : error(kNoOverload);
            }
            case NodeKind::kNegate: {
                const Value operand = eval_child(node, 0);
                if (operand.is_error()) return operand;
                if (operand.is(Kind::kDouble)) return real(-operand.real);
                return operand.is(Kind::kInt) ? subtract_values(integer(0), operand) : error(kNoOverload);
            }
            case NodeKind::kAnd:
            case NodeKind::kOr:
                return decide(
                    node.children, node.kind == NodeKind::kOr, [&](std::size_t i) { return eval_child(node, i); });
            case NodeKind::kConditional: {
                const Value condition = eval_child(node, 0);
                if (condition.is_error()) return condition;
                if (!condition.is(Kind::kBool)) return error(kNoOverload);
                return eval_child(node, condition.truth ? 1 : 2);
            }
            case NodeKind::kBinary:
                return binary(node);
            case NodeKind::kCall:
                return call(node);
            case NodeKind::kAll:
            case NodeKind::kExists:
            case NodeKind::kExistsOne:
            case NodeKind::kMap:
            case NodeKind::kFilter:
                return comprehension(node);
            case NodeKind::kBind:
                slots_[node.index] = eval_child(node, 0);
                return slots_[node.index].is_error() ? slots_[node.index] : eval_child(node, 1);
        }
        return error(kNoOverload);
    }

    static Value literal(const Literal& value) {
        if (const bool* truth = std::get_if<bool>(&value)) return boolean(*truth);
        if (const auto* number = std::get_if<std::int64_t>(&value)) return integer(*number);
        if (const auto* x = std::get_if<double>(&value)) return real(*x);
        if (const auto* text = std::get_if<std::string>(&value)) return text_value(*text);
        return {};
    }

    Value list(const TreeNode& node) {
        std::vector<Value> items;
        for (std::size_t i = 0; i < node.children; ++i) {
            items.push_back(eval_child(node, i));
            if (items.back().is_error()) return items.back();
        }
        return arena_.list(std::move(items));
    }

    // The first operand that decides wins over errors before and after it.
    template <class Operand>
    Value decide(std::size_t count, bool by, Operand operand) {
        Value trouble;
        for (std::size_t i = 0; i < count; ++i) {
            Value value = operand(i);
            if (value.is(Kind::kBool)) {
                if (value.truth == by) return boolean(by);
            } else if (!trouble.is_error()) {
                trouble = value.is_error() ? value : error(kNoOverload);
            }
        }
        return trouble.is_error() ? trouble : boolean(!by);
    }

    // --- fields and keys

    // The value under a key; nothing: there is none.
    std::optional<Value> find(const Value& map, std::string_view key) {
        switch (map.kind) {
            case Kind::kDevice:
                if (key == "driver") return text_value(device_.driver);
                if (key == "allowMultipleAllocations") return boolean(device_.allow_multiple_allocations);
                if (key == "attributes")
                    return Value{.kind = Kind::kAttributeDomains, .count = domains_in(device_.attributes)};
                if (key == "capacity")
                    return Value{.kind = Kind::kCapacityDomains, .count = domains_in(device_.capacity)};
                return std::nullopt;
            // A domain that the device does not have is there, and empty.
            case Kind::kAttributeDomains:
                return Value{
                    .kind = Kind::kAttributes, .text = key, .count = entries_of(device_.attributes, key).size()};
            case Kind::kCapacityDomains:
                return Value{.kind = Kind::kCapacities, .text = key, .count = entries_of(device_.capacity, key).size()};
            case Kind::kAttributes:
                for (const Attribute& a : entries_of(device_.attributes, map.text)) {
                    if (a.id == key) return to_value(a);
                }
                return std::nullopt;
            case Kind::kCapacities:
                for (const Capacity& c : entries_of(device_.capacity, map.text)) {
                    if (c.id == key) return quantity(c.nano);
                }
                return std::nullopt;
            default:
                return std::nullopt;
        }
    }

    Value take(const Value& operand, const Value& key, bool optional) {
        if (operand.is_error()) return operand;
        if (operand.is(Kind::kOptional)) {
            if (operand.count == 0) return none();
            return take(operand.items[0], key, true);
        }
        if (operand.is(Kind::kList)) return item(operand, key, optional);
        if (!is_map(operand) && !operand.is(Kind::kDevice)) return error(kNoOverload);
        if (!key.is(Kind::kString)) return error(kNoOverload);
        const std::optional<Value> found = find(operand, key.text);
        if (optional) return found ? arena_.some(*found) : none();
        return found ? *found : error(arena_.keep(fmt::format("no such key: {}", key.text)));
    }

    Value item(const Value& list, const Value& key, bool optional) {
        std::int64_t at = key.number;
        if (key.is(Kind::kDouble)) {
            if (!(key.real >= 0 && key.real < 1e9) ||
                key.real != static_cast<double>(static_cast<std::int64_t>(key.real)))
                return error("invalid_argument: unsupported index value");
            at = static_cast<std::int64_t>(key.real);
        } else if (!key.is(Kind::kInt)) {
            return error(kNoOverload);
        }
        const bool inside = at >= 0 && at < static_cast<std::int64_t>(list.count);
        if (optional) return inside ? arena_.some(list.items[at]) : none();
        return inside ? list.items[at] : error(arena_.keep(fmt::format("index out of bounds: {}", at)));
    }

    Value has(const TreeNode& node) {
        const Value operand = eval_child(node, 0);
        if (operand.is_error()) return operand;
        const Value inner = operand.is(Kind::kOptional) && operand.count > 0 ? operand.items[0] : operand;
        if (inner.is(Kind::kOptional)) return boolean(false);
        if (!is_map(inner) && !inner.is(Kind::kDevice)) return error(kNoOverload);
        return boolean(find(inner, node.name).has_value());
    }

    // --- operators and calls

    Value binary(const TreeNode& node) {
        const Value a = eval_child(node, 0);
        if (a.is_error()) return a;
        const Value b = eval_child(node, 1);
        if (b.is_error()) return b;
        if (!spend((a.text.size() + b.text.size()) / kTextPerStep)) return error("actual cost limit exceeded");
        switch (node.op) {
            case Operator::kEqual:
            case Operator::kNotEqual:
                // Upstream's own types know only themselves, where they stand on the left; != takes their "no such
                // overload" for "not equal".
                if ((a.is(Kind::kSemver) || a.is(Kind::kQuantity)) && a.kind != b.kind)
                    return node.op == Operator::kEqual ? error(kNoOverload) : boolean(true);
                return boolean(same_value(a, b) == (node.op == Operator::kEqual));
            case Operator::kLess:
                return compare_values(a, b, [](int c) { return c < 0; });
            case Operator::kLessEqual:
                return compare_values(a, b, [](int c) { return c <= 0; });
            case Operator::kGreater:
                return compare_values(a, b, [](int c) { return c > 0; });
            case Operator::kGreaterEqual:
                return compare_values(a, b, [](int c) { return c >= 0; });
            case Operator::kIn:
                return contained(a, b);
            case Operator::kAdd:
                if (!spend(a.count + b.count)) return error("actual cost limit exceeded");
                return add_values(a, b, arena_);
            case Operator::kSubtract:
                return subtract_values(a, b);
            case Operator::kMultiply:
                return multiply_values(a, b);
            case Operator::kDivide:
                return divide_values(a, b);
            case Operator::kModulo:
                return modulo_values(a, b);
        }
        return error(kNoOverload);
    }

    Value contained(const Value& key, const Value& in) {
        if (in.is(Kind::kList)) {
            if (!spend(in.count)) return error("actual cost limit exceeded");
            return boolean(
                std::any_of(in.items, in.items + in.count, [&](const Value& v) { return same_value(key, v); }));
        }
        if (!is_map(in)) return error(kNoOverload);
        if (!key.is(Kind::kString)) return boolean(false);
        // Unlike a lookup, this asks for what is really there.
        if (in.is(Kind::kAttributeDomains)) return boolean(!entries_of(device_.attributes, key.text).empty());
        if (in.is(Kind::kCapacityDomains)) return boolean(!entries_of(device_.capacity, key.text).empty());
        return boolean(find(in, key.text).has_value());
    }

    Value call(const TreeNode& node) {
        std::array<Value, kArgumentsMax> arguments;
        std::size_t text = 0;
        for (std::size_t i = 0; i < node.children; ++i) {
            arguments[i] = eval_child(node, i);
            if (arguments[i].is_error()) return arguments[i];
            text += arguments[i].text.size() + arguments[i].count;
        }
        if (!spend(text / kTextPerStep)) return error("actual cost limit exceeded");
        for (const Overload& o : overloads().subspan(node.index, node.overloads)) {
            bool accepts = o.count == node.children;
            for (std::size_t i = 0; accepts && i < node.children; ++i)
                accepts = (o.accepts[i] & only(arguments[i].kind)) != 0;
            if (accepts) return o.run(Arguments(arguments.data(), node.children), arena_);
        }
        return error(kNoOverload);
    }

    // --- macros

    std::vector<Value> keys_of(const Value& range) {
        std::vector<Value> keys;
        const auto domains = [&](const auto& entries) {
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (i == 0 || entries[i].domain != entries[i - 1].domain) keys.push_back(text_value(entries[i].domain));
            }
        };
        const auto ids = [&](const auto& entries) {
            for (const auto& entry : entries)
                keys.push_back(text_value(entry.id));
        };
        if (range.is(Kind::kAttributeDomains)) domains(device_.attributes);
        if (range.is(Kind::kCapacityDomains)) domains(device_.capacity);
        if (range.is(Kind::kAttributes)) ids(entries_of(device_.attributes, range.text));
        if (range.is(Kind::kCapacities)) ids(entries_of(device_.capacity, range.text));
        if (range.is(Kind::kList)) keys.assign(range.items, range.items + range.count);
        return keys;
    }

    Value comprehension(const TreeNode& node) {
        const Value range = eval_child(node, 0);
        if (range.is_error()) return range;
        if (!range.is(Kind::kList) && !is_map(range)) return error(kNoOverload);
        const std::vector<Value> keys = keys_of(range);
        const auto body = [&](std::size_t i) {
            slots_[node.index] = keys[i];
            return eval_child(node, 1);
        };
        if (node.kind == NodeKind::kAll) return decide(keys.size(), false, body);
        if (node.kind == NodeKind::kExists) return decide(keys.size(), true, body);
        std::vector<Value> kept;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const Value value = body(i);
            if (value.is_error()) return value;
            if (node.kind == NodeKind::kMap) {
                kept.push_back(value);
            } else {
                if (!value.is(Kind::kBool)) return error(kNoOverload);
                if (value.truth) kept.push_back(keys[i]);
            }
        }
        return node.kind == NodeKind::kExistsOne ? boolean(kept.size() == 1) : arena_.list(std::move(kept));
    }

    const Expression& expression_;
    const Device& device_;
    std::vector<Value> slots_;
    Arena arena_;
    std::int64_t steps_ = 0;
};

Result<bool> Expression::matches(const Device& device) const {
    Evaluation evaluation(*this, device);  // owns what the value borrows
    const Value value = evaluation.run();
    if (value.is(Kind::kBool)) return value.truth;
    if (value.is_error()) return fail(fmt::format("{} (at {})", value.text, place_in(text_, value.place - 1)));
    return fail(fmt::format("must evaluate to bool, not {}", kind_name(value.kind)));
}

}  // namespace reprieve::cel
