// Reading an expression: recursive descent over tokens into the flat tree, with the types checked on the way as far as
// they are known. An operand's type is a set of kinds; what no member of the set allows is refused here.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "cel/expression.h"
#include "cel/functions.h"
#include "cel/lexer.h"
#include "cel/value.h"

namespace reprieve::cel {
namespace {

constexpr std::uint16_t kDepthMax = 250;  // of the tree
constexpr int kNestingMax = 100;          // of parentheses, brackets and arguments in the text
constexpr Kinds kBool = only(Kind::kBool);
constexpr Kinds kString = only(Kind::kString);
constexpr Kinds kOptional = only(Kind::kOptional);

bool is_single(Kinds kinds) { return std::popcount(kinds) == 1; }

std::string kinds_name(Kinds kinds) {
    return is_single(kinds) ? kind_name(static_cast<Kind>(std::countr_zero(kinds))) : "dyn";
}

bool is_reserved(std::string_view name) {
    constexpr std::string_view kReserved[] = {"as",
                                              "break",
                                              "const",
                                              "continue",
                                              "else",
                                              "for",
                                              "function",
                                              "if",
                                              "import",
                                              "let",
                                              "loop",
                                              "package",
                                              "namespace",
                                              "return",
                                              "var",
                                              "void",
                                              "while",
                                              "in"};
    return std::ranges::find(kReserved, name) != std::end(kReserved);
}

}  // namespace

// Every method that returns a node returns kFailed once something is wrong; the first fault is kept.
class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) {
        result_.text_ = text;
        variables_.push_back({"device", 0, only(Kind::kDevice)});
        advance();
    }

    Result<Expression> run() {
        result_.root_ = expression();
        if (ok() && token_.kind != TokenKind::kEnd) unexpected();
        if (ok() && (kinds_[result_.root_] & kBool) == 0)
            refuse(0, fmt::format("must evaluate to bool, not {}", kinds_name(kinds_[result_.root_])));
        if (!ok()) return fail(fmt::format("{}: {}", Expression::place_in(result_.text_, fault_->place), fault_->what));
        return std::move(result_);
    }

private:
    static constexpr std::uint32_t kFailed = std::numeric_limits<std::uint32_t>::max();
    struct Fault {
        std::size_t place = 0;
        std::string what;
    };
    struct Variable {
        std::string_view name;
        std::uint32_t slot = 0;
        Kinds kinds = 0;
    };

    [[nodiscard]] bool ok() const { return !fault_; }
    std::uint32_t refuse(std::size_t place, std::string what) {
        if (!fault_) fault_ = {place, std::move(what)};
        return kFailed;
    }
    std::uint32_t unexpected() {
        if (token_.kind == TokenKind::kWrong) return refuse(token_.place, token_.text);
        return refuse(token_.place, fmt::format("syntax error: unexpected '{}'", token_.spelling));
    }
    std::uint32_t no_overload(std::size_t place, std::string_view function, std::initializer_list<Kinds> kinds) {
        std::string list;
        for (Kinds k : kinds)
            list += (list.empty() ? "" : ", ") + kinds_name(k);
        return refuse(place, fmt::format("found no matching overload for '{}' applied to '({})'", function, list));
    }
    void advance() { token_ = lexer_.next(); }
    bool accept(std::string_view symbol) {
        if (!token_.is(symbol)) return false;
        advance();
        return true;
    }
    void expect(std::string_view symbol) {
        if (ok() && !accept(symbol)) unexpected();
    }

    std::uint32_t add(TreeNode node, std::initializer_list<std::uint32_t> children, Kinds kinds) {
        return add(std::move(node), std::vector<std::uint32_t>(children), kinds);
    }
    std::uint32_t add(TreeNode node, const std::vector<std::uint32_t>& children, Kinds kinds) {
        if (!ok()) return kFailed;
        for (std::uint32_t child : children) {
            const auto depth = static_cast<std::uint16_t>(result_.nodes_[child].depth + 1);
            node.depth = std::max(node.depth, depth);
        }
        if (node.depth > kDepthMax) return refuse(node.place, "the expression is nested too deep");
        node.children_at = static_cast<std::uint32_t>(result_.children_.size());
        node.children = static_cast<std::uint32_t>(children.size());
        result_.children_.insert(result_.children_.end(), children.begin(), children.end());
        result_.nodes_.push_back(std::move(node));
        kinds_.push_back(kinds);
        return static_cast<std::uint32_t>(result_.nodes_.size() - 1);
    }
    std::uint32_t literal(Literal value, std::size_t place, Kinds kinds) {
        result_.literals_.push_back(std::move(value));
        return add({.kind = NodeKind::kLiteral,
                    .place = static_cast<std::uint32_t>(place),
                    .index = static_cast<std::uint32_t>(result_.literals_.size() - 1)},
                   {},
                   kinds);
    }

    // --- expressions, loosest first

    std::uint32_t expression() {
        if (++nesting_ > kNestingMax) return refuse(token_.place, "the expression is nested too deep");
        const std::uint32_t result = conditional();
        --nesting_;
        return result;
    }

    std::uint32_t conditional() {
        const std::uint32_t condition =
            chain(NodeKind::kOr, "||", [&] { return chain(NodeKind::kAnd, "&&", [&] { return relation(); }); });
        const std::size_t place = token_.place;
        if (!ok() || !accept("?")) return condition;
        const std::uint32_t yes =
            chain(NodeKind::kOr, "||", [&] { return chain(NodeKind::kAnd, "&&", [&] { return relation(); }); });
        expect(":");
        if (!ok()) return kFailed;
        const std::uint32_t no = expression();
        if (!ok()) return kFailed;
        const bool differ = is_single(kinds_[yes]) && is_single(kinds_[no]) && kinds_[yes] != kinds_[no];
        if ((kinds_[condition] & kBool) == 0 || differ)
            return no_overload(place, "_?_:_", {kinds_[condition], kinds_[yes], kinds_[no]});
        return add({.kind = NodeKind::kConditional, .place = static_cast<std::uint32_t>(place)},
                   {condition, yes, no},
                   static_cast<Kinds>(kinds_[yes] | kinds_[no]));
    }

    // a && b && c as one node of three: errors of one side are absorbed by any other that decides.
    template <class Operand>
    std::uint32_t chain(NodeKind kind, std::string_view symbol, Operand operand) {
        std::vector<std::uint32_t> parts{operand()};
        const std::size_t place = token_.place;
        while (ok() && accept(symbol))
            parts.push_back(operand());
        if (!ok() || parts.size() == 1) return ok() ? parts.front() : kFailed;
        for (std::uint32_t part : parts) {
            if ((kinds_[part] & kBool) == 0)
                return refuse(
                    result_.nodes_[part].place,
                    fmt::format(
                        "found no matching overload for '_{}_' applied to '{}'", symbol, kinds_name(kinds_[part])));
        }
        return add({.kind = kind, .place = static_cast<std::uint32_t>(place)}, parts, kBool);
    }

    std::uint32_t relation() {
        std::uint32_t left = sum();
        while (ok()) {
            constexpr std::pair<std::string_view, Operator> kRelations[] = {{"==", Operator::kEqual},
                                                                            {"!=", Operator::kNotEqual},
                                                                            {"<", Operator::kLess},
                                                                            {"<=", Operator::kLessEqual},
                                                                            {">", Operator::kGreater},
                                                                            {">=", Operator::kGreaterEqual}};
            const std::size_t place = token_.place;
            const auto* const found =
                std::ranges::find_if(kRelations, [&](const auto& r) { return token_.is(r.first); });
            if (token_.kind == TokenKind::kName && token_.spelling == "in") {
                advance();
                left = binary(Operator::kIn, "@in", place, left, sum());
            } else if (found != std::end(kRelations)) {
                advance();
                left = binary(found->second, fmt::format("_{}_", found->first), place, left, sum());
            } else {
                break;
            }
        }
        return left;
    }

    std::uint32_t sum() {
        std::uint32_t left = product();
        while (ok() && (token_.is("+") || token_.is("-"))) {
            const bool plus = token_.is("+");
            const std::size_t place = token_.place;
            advance();
            left = binary(plus ? Operator::kAdd : Operator::kSubtract, plus ? "_+_" : "_-_", place, left, product());
        }
        return left;
    }

    std::uint32_t product() {
        std::uint32_t left = unary();
        while (ok() && (token_.is("*") || token_.is("/") || token_.is("%"))) {
            const Operator op = token_.is("*")   ? Operator::kMultiply
                                : token_.is("/") ? Operator::kDivide
                                                 : Operator::kModulo;
            const std::string name = fmt::format("_{}_", token_.spelling);
            const std::size_t place = token_.place;
            advance();
            left = binary(op, name, place, left, unary());
        }
        return left;
    }

    std::uint32_t binary(
        Operator op, std::string_view name, std::size_t place, std::uint32_t left, std::uint32_t right) {
        if (!ok()) return kFailed;
        const Kinds a = kinds_[left];
        const Kinds b = kinds_[right];
        const Kinds both = a & b;
        Kinds result = kBool;
        bool possible = true;
        switch (op) {
            case Operator::kEqual:
            case Operator::kNotEqual:
                possible = both != 0;
                break;
            case Operator::kLess:
            case Operator::kLessEqual:
            case Operator::kGreater:
            case Operator::kGreaterEqual:
                possible = (both & (kBool | kString | kNumbers)) != 0 || ((a & kNumbers) != 0 && (b & kNumbers) != 0);
                break;
            case Operator::kIn:
                possible = (b & (only(Kind::kList) | kMaps)) != 0 && (b != (b & kMaps) || (a & kString) != 0);
                break;
            case Operator::kAdd:
                result = both & (kNumbers | kString | only(Kind::kList));
                possible = result != 0;
                break;
            case Operator::kSubtract:
            case Operator::kMultiply:
            case Operator::kDivide:
                result = both & kNumbers;
                possible = result != 0;
                break;
            case Operator::kModulo:
                result = both & only(Kind::kInt);
                possible = result != 0;
                // Upstream has unsigned numbers too: of two unknowns it does not know which it will be.
                if (possible && !is_single(a) && !is_single(b)) result = kNumbers;
                break;
        }
        if (!possible) return no_overload(place, name, {a, b});
        return add(
            {.kind = NodeKind::kBinary, .op = op, .place = static_cast<std::uint32_t>(place)}, {left, right}, result);
    }

    std::uint32_t unary() {
        const std::size_t place = token_.place;
        if (!token_.is("!") && !token_.is("-")) return member();
        const bool is_not = token_.is("!");
        std::size_t times = 0;
        while (accept(is_not ? "!" : "-"))
            ++times;
        if (!is_not && times == 1 && token_.kind == TokenKind::kInt) {
            const std::int64_t magnitude = token_.number;
            const std::size_t at = token_.place;
            advance();
            // 2^63 is its own negative.
            const std::int64_t value = magnitude == std::numeric_limits<std::int64_t>::min() ? magnitude : -magnitude;
            return members(literal(value, at, only(Kind::kInt)));
        }
        std::uint32_t operand = member();
        for (; ok() && times > 0; --times) {
            const Kinds accepted = kinds_[operand] & (is_not ? kBool : kNumbers);
            if (accepted == 0) return no_overload(place, is_not ? "!_" : "-_", {kinds_[operand]});
            operand =
                add({.kind = is_not ? NodeKind::kNot : NodeKind::kNegate, .place = static_cast<std::uint32_t>(place)},
                    {operand},
                    accepted);
        }
        return operand;
    }

    // --- primary and what follows it

    std::uint32_t member() { return members(primary()); }

    std::uint32_t primary() {
        const Token token = token_;
        switch (token.kind) {
            case TokenKind::kInt:
                advance();
                if (token.number == std::numeric_limits<std::int64_t>::min())
                    return refuse(token.place, "syntax error: invalid int literal");
                return literal(token.number, token.place, only(Kind::kInt));
            case TokenKind::kDouble:
                advance();
                return literal(token.real, token.place, only(Kind::kDouble));
            case TokenKind::kString:
                advance();
                return literal(token.text, token.place, kString);
            case TokenKind::kName:
                return name();
            default:
                break;
        }
        if (accept("(")) {
            const std::uint32_t inside = expression();
            expect(")");
            return inside;
        }
        if (accept("[")) return list(token.place);
        if (token.is("{")) return refuse(token.place, "maps are not supported");
        if (token.is("[?")) return refuse(token.place, "optional list elements are not supported");
        if (accept(".") && token_.kind == TokenKind::kName) return name();
        return unexpected();
    }

    std::uint32_t list(std::size_t place) {
        std::vector<std::uint32_t> items;
        while (ok() && !token_.is("]")) {
            const std::size_t at = token_.place;
            items.push_back(expression());
            if (!ok()) break;
            const auto first = kinds_[items.front()];
            const auto last = kinds_[items.back()];
            if (first != last && (is_single(first) || is_single(last)))
                return refuse(at,
                              fmt::format("expected type '{}' but found '{}': the elements of a list have one type",
                                          kinds_name(first),
                                          kinds_name(last)));
            if (!accept(",")) break;
        }
        expect("]");
        return add({.kind = NodeKind::kList, .place = static_cast<std::uint32_t>(place)}, items, only(Kind::kList));
    }

    std::uint32_t name() {
        const Token token = token_;
        advance();
        const std::string_view name = token.spelling;
        if (name == "true" || name == "false") return literal(name == "true", token.place, kBool);
        if (name == "null") return literal(std::monostate(), token.place, only(Kind::kNull));
        if (is_reserved(name)) return refuse(token.place, fmt::format("syntax error: unexpected '{}'", name));
        if (token_.is("(")) {
            advance();
            return name == "has" ? has(token.place) : call(std::string(name), token.place, {});
        }
        const auto known =
            std::ranges::find(variables_.rbegin(), variables_.rend(), name, [](const Variable& v) { return v.name; });
        if (known != variables_.rend())
            return add(
                {.kind = NodeKind::kVariable, .place = static_cast<std::uint32_t>(token.place), .index = known->slot},
                {},
                known->kinds);
        if ((name == "cel" || name == "optional") && token_.is(".")) return qualified(name, token.place);
        return refuse(token.place, fmt::format("undeclared reference to '{}'", name));
    }

    // cel.bind, optional.of, optional.none.
    std::uint32_t qualified(std::string_view space, std::size_t place) {
        advance();
        const std::string function = fmt::format("{}.{}", space, token_.spelling);
        advance();
        if (!token_.is("(")) return refuse(place, fmt::format("undeclared reference to '{}'", function));
        advance();
        if (function != "cel.bind") return call(function, place, {});
        const Token variable = token_;
        if (variable.kind != TokenKind::kName)
            return refuse(variable.place, "cel.bind() variable names must be simple identifiers");
        advance();
        expect(",");
        if (!ok()) return kFailed;
        const std::uint32_t value = expression();
        expect(",");
        if (!ok()) return kFailed;
        const std::uint32_t slot = result_.slots_++;
        variables_.push_back({variable.spelling, slot, kinds_[value]});
        const std::uint32_t body = expression();
        variables_.pop_back();
        expect(")");
        if (!ok()) return kFailed;
        return add({.kind = NodeKind::kBind, .place = static_cast<std::uint32_t>(place), .index = slot},
                   {value, body},
                   kinds_[body]);
    }

    std::uint32_t has(std::size_t place) {
        const std::uint32_t field = expression();
        expect(")");
        if (!ok()) return kFailed;
        TreeNode& node = result_.nodes_[field];
        if (node.kind != NodeKind::kSelect) return refuse(place, "invalid argument to has() macro");
        node.kind = NodeKind::kHas;
        kinds_[field] = kBool;
        return field;
    }

    std::uint32_t call(std::string function, std::size_t place, std::vector<std::uint32_t> arguments) {
        const bool method = !arguments.empty();
        while (ok() && !token_.is(")")) {
            arguments.push_back(expression());
            if (!accept(",")) break;
        }
        expect(")");
        if (!ok()) return kFailed;
        const auto all = overloads();
        const auto named = [&](const Overload& o) { return o.name == function && o.method == method; };
        const auto first = std::ranges::find_if(all, named);
        if (first == all.end()) return refuse(place, fmt::format("undeclared reference to '{}'", function));
        const auto last = std::find_if_not(first, all.end(), named);
        Kinds result = 0;
        for (auto o = first; o != last; ++o) {
            bool accepts = o->count == arguments.size();
            for (std::size_t i = 0; accepts && i < arguments.size(); ++i)
                accepts = (o->accepts[i] & kinds_[arguments[i]]) != 0;
            if (accepts) result |= o->result;
        }
        if (result == 0) {
            std::string list;
            for (std::uint32_t a : arguments)
                list += (list.empty() ? "" : ", ") + kinds_name(kinds_[a]);
            return refuse(place, fmt::format("found no matching overload for '{}' applied to '({})'", function, list));
        }
        return add({.kind = NodeKind::kCall,
                    .place = static_cast<std::uint32_t>(place),
                    .index = static_cast<std::uint32_t>(first - all.begin()),
                    .overloads = static_cast<std::uint32_t>(last - first),
                    .name = std::move(function)},
                   arguments,
                   result);
    }

    std::uint32_t members(std::uint32_t operand) {
        while (ok()) {
            const std::size_t place = token_.place;
            if (token_.is(".") || token_.is(".?")) {
                const bool optional = token_.is(".?");
                advance();
                if (token_.kind != TokenKind::kName || is_reserved(token_.spelling)) return unexpected();
                const std::string name(token_.spelling);
                const std::size_t name_place = token_.place;
                advance();
                if (!optional && accept("("))
                    operand = method(name, name_place, operand);
                else
                    operand = select(name, name_place, operand, optional);
            } else if (token_.is("[") || token_.is("[?")) {
                const bool optional = token_.is("[?");
                advance();
                const std::uint32_t key = expression();
                expect("]");
                operand = index(place, operand, key, optional);
            } else {
                return operand;
            }
        }
        return kFailed;
    }

    // What a field or key of these kinds can be; 0: they have none.
    static Kinds element_of(Kinds kinds) {
        Kinds found = 0;
        if ((kinds & only(Kind::kAttributeDomains)) != 0) found |= only(Kind::kAttributes);
        if ((kinds & only(Kind::kCapacityDomains)) != 0) found |= only(Kind::kCapacities);
        if ((kinds & only(Kind::kCapacities)) != 0) found |= only(Kind::kQuantity);
        if ((kinds & only(Kind::kAttributes)) != 0) found |= kAnything;
        return found;
    }

    std::uint32_t select(const std::string& name, std::size_t place, std::uint32_t operand, bool optional) {
        const Kinds of = kinds_[operand];
        Kinds result = element_of(of);
        if ((of & kOptional) != 0) result |= kOptional;
        if ((of & only(Kind::kDevice)) != 0) {
            if (name == "driver") result |= kString;
            if (name == "allowMultipleAllocations") result |= kBool;
            if (name == "attributes") result |= only(Kind::kAttributeDomains);
            if (name == "capacity") result |= only(Kind::kCapacityDomains);
            if (result == 0) return refuse(place, fmt::format("undefined field '{}'", name));
        }
        if (result == 0)
            return refuse(place, fmt::format("type '{}' does not support field selection", kinds_name(of)));
        return add({.kind = optional ? NodeKind::kOptionalSelect : NodeKind::kSelect,
                    .place = static_cast<std::uint32_t>(place),
                    .name = name},
                   {operand},
                   optional ? kOptional : result);
    }

    std::uint32_t index(std::size_t place, std::uint32_t operand, std::uint32_t key, bool optional) {
        if (!ok()) return kFailed;
        const Kinds of = kinds_[operand];
        Kinds result = (kinds_[key] & kString) != 0 ? element_of(of) : Kinds{0};
        if ((of & only(Kind::kList)) != 0 && (kinds_[key] & kNumbers) != 0) result = kAnything;
        if ((of & kOptional) != 0) result |= kOptional;
        if (result == 0) return no_overload(place, "_[_]", {of, kinds_[key]});
        return add({.kind = optional ? NodeKind::kOptionalIndex : NodeKind::kIndex,
                    .place = static_cast<std::uint32_t>(place)},
                   {operand, key},
                   optional ? kOptional : result);
    }

    std::uint32_t method(const std::string& name, std::size_t place, std::uint32_t operand) {
        constexpr std::pair<std::string_view, NodeKind> kMacros[] = {{"all", NodeKind::kAll},
                                                                     {"exists", NodeKind::kExists},
                                                                     {"exists_one", NodeKind::kExistsOne},
                                                                     {"existsOne", NodeKind::kExistsOne},
                                                                     {"map", NodeKind::kMap},
                                                                     {"filter", NodeKind::kFilter}};
        const auto* const macro = std::ranges::find_if(kMacros, [&](const auto& m) { return m.first == name; });
        if (macro == std::end(kMacros)) return call(name, place, {operand});
        const Token variable = token_;
        if (variable.kind != TokenKind::kName || is_reserved(variable.spelling))
            return refuse(variable.place, fmt::format("{}() needs the name of a variable first", name));
        advance();
        expect(",");
        if (!ok()) return kFailed;
        const Kinds range = kinds_[operand];
        if ((range & (only(Kind::kList) | kMaps)) == 0)
            return refuse(place,
                          fmt::format("expression of type '{}' cannot be range of a comprehension", kinds_name(range)));
        const std::uint32_t slot = result_.slots_++;
        variables_.push_back({variable.spelling, slot, (range & only(Kind::kList)) != 0 ? kAnything : kString});
        const std::uint32_t body = expression();
        if (ok() && token_.is(","))
            refuse(token_.place, fmt::format("{}() with three arguments is not supported", name));
        variables_.pop_back();
        expect(")");
        if (!ok()) return kFailed;
        if (macro->second != NodeKind::kMap && (kinds_[body] & kBool) == 0)
            return no_overload(place, name, {kinds_[body]});
        const bool lists = macro->second == NodeKind::kMap || macro->second == NodeKind::kFilter;
        return add({.kind = macro->second, .place = static_cast<std::uint32_t>(place), .index = slot},
                   {operand, body},
                   lists ? only(Kind::kList) : kBool);
    }

    Lexer lexer_;
    Token token_;
    Expression result_;
    std::vector<Kinds> kinds_;  // of each node
    std::vector<Variable> variables_;
    std::optional<Fault> fault_;
    int nesting_ = 0;
};

Result<Expression> Expression::parse(std::string_view text) {
    if (text.size() > kTextMax)
        return fail(fmt::format("the expression has {} bytes, {} are allowed", text.size(), kTextMax));
    return Parser(text).run();
}

std::string Expression::place_in(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t start = before.rfind('\n');
    const auto line = std::ranges::count(before, '\n') + 1;
    return fmt::format("{}:{}", line, offset - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

}  // namespace reprieve::cel
