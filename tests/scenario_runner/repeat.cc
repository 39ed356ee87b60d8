#include "repeat.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <optional>

namespace reprieve::scenario {
namespace {

struct Binding {
    std::string name;
    std::string text;     // an entry of `over`
    std::int64_t number;  // without one
    bool is_number;
};

std::optional<std::int64_t> computed(std::string_view operations, std::int64_t value) {
    while (!operations.empty()) {
        const char op = operations.front();
        std::size_t end = 1;
        std::int64_t operand = 0;
        while (end < operations.size() && std::isdigit(static_cast<unsigned char>(operations[end])) != 0)
            operand = operand * 10 + (operations[end++] - '0');
        if (end == 1) return std::nullopt;
        switch (op) {
            case '+':
                value += operand;
                break;
            case '-':
                value -= operand;
                break;
            case '*':
                value *= operand;
                break;
            case '/':
                value = operand == 0 ? 0 : value / operand;
                break;
            case '%':
                value = operand == 0 ? 0 : value % operand;
                break;
            default:
                return std::nullopt;
        }
        operations.remove_prefix(end);
    }
    return value;
}

// What stands between the braces, for this binding; nothing if it is about something else (JSON in a text has braces,
// too).
std::optional<Json> value_of(std::string_view inside, const Binding& binding) {
    if (!inside.starts_with(binding.name)) return std::nullopt;
    inside.remove_prefix(binding.name.size());
    if (!binding.is_number) return inside.empty() ? std::optional<Json>(binding.text) : std::nullopt;
    const auto colon = inside.find(':');
    const std::string_view format = colon == std::string_view::npos ? std::string_view() : inside.substr(colon + 1);
    const auto number = computed(inside.substr(0, colon), binding.number);
    if (!number) return std::nullopt;
    if (format.empty()) return fmt::format("{}", *number);
    if (format == "int") return Json(*number);
    if (format.size() != 2 || format[0] != '0' || std::isdigit(static_cast<unsigned char>(format[1])) == 0)
        return std::nullopt;
    return fmt::format("{:0{}}", *number, format[1] - '0');
}

Json filled_text(const std::string& text, const Binding& binding) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t close = text[at] == '{' ? text.find('}', at) : std::string::npos;
        const auto value = close == std::string::npos
                               ? std::nullopt
                               : value_of(std::string_view(text).substr(at + 1, close - at - 1), binding);
        if (!value) {
            out += text[at++];
            continue;
        }
        if (value->is_number() && at == 0 && close + 1 == text.size()) return *value;
        out += value->is_string() ? value->get<std::string>() : value->dump();
        at = close + 1;
    }
    return out;
}

Json filled(const Json& value, const Binding& binding) {
    if (value.is_string()) return filled_text(value.get_ref<const std::string&>(), binding);
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json& item : value)
            out.push_back(filled(item, binding));
        return out;
    }
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const auto& [key, item] : value.items()) {
        const Json name = filled_text(key, binding);
        out[name.is_string() ? name.get<std::string>() : name.dump()] = filled(item, binding);
    }
    return out;
}

std::vector<Binding> bindings_of(Keys& keys, Faults& faults) {
    const std::string name = keys.text("as", "i");
    const Json* from = keys.take("from");
    const Json* count = keys.take("count");
    const Json* over = keys.take("over");
    std::vector<Binding> out;
    if (over != nullptr && over->is_array() && count == nullptr && from == nullptr) {
        for (const Json& entry : *over)
            out.push_back({name, entry.is_string() ? entry.get<std::string>() : entry.dump(), 0, false});
    } else if (over == nullptr && count != nullptr && count->is_number_integer() &&
               (from == nullptr || from->is_number_integer())) {
        const std::int64_t first = from == nullptr ? 0 : from->get<std::int64_t>();
        for (std::int64_t i = 0; i < count->get<std::int64_t>(); ++i)
            out.push_back({name, "", first + i, true});
    } else {
        faults.push_back("Repeat: needs either a `count` (and `from`), or a list `over`");
    }
    return out;
}

}  // namespace

void expand(const Json& document, std::vector<Json>& out, Faults& faults) {
    if (!document.is_object() || document.value("kind", "") != "Repeat") {
        out.push_back(document);
        return;
    }
    Keys keys(document, "Repeat", faults);
    (void)keys.take("apiVersion");
    (void)keys.take("kind");
    const Json* given = keys.take("template");
    const std::vector<Binding> bindings = bindings_of(keys, faults);
    keys.finish();
    if (given == nullptr) {
        faults.emplace_back("Repeat.template: is missing");
        return;
    }
    const Json list = given->is_array() ? *given : Json::array({*given});
    for (const Binding& binding : bindings) {
        for (const Json& item : list)
            expand(filled(item, binding), out, faults);
    }
}

}  // namespace reprieve::scenario
