#include "manifest/plan_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/utf8.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_plain(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/' || c == ':';
}

// Plain only where no reader of YAML 1.1 or 1.2 sees a number, a truth value, a null or syntax.
bool reads_as_itself(std::string_view text) {
    static constexpr std::array<std::string_view, 8> kReserved{"true", "false", "yes", "no", "on", "off", "null", "y"};
    if (text.empty() || !is_letter(text.front()) || text.back() == ':' ||
        !std::all_of(text.begin(), text.end(), is_plain))
        return false;
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    return lower != "n" && std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end();
}

bool must_escape(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::string_view from = text;
        const char32_t code = take_code_point(text);
        if (code == '"' || code == '\\') {
            out += '\\';
            out += static_cast<char>(code);
        } else if (code == '\n') {
            out += "\\n";
        } else if (must_escape(code)) {
            fmt::format_to(std::back_inserter(out), "\\u{:04X}", static_cast<unsigned>(code));
        } else {
            out += from.substr(0, from.size() - text.size());
        }
    }
    return out + "\"";
}

std::string scalar(const Json& value) {
    if (!value.is_string()) return value.dump();
    const auto& text = value.get_ref<const std::string&>();
    return reads_as_itself(text) ? text : in_quotes(text);
}

std::string key_of(const std::string& key) { return reads_as_itself(key) ? key : in_quotes(key); }

// Short enough for one line: empty, or a list of plain values.
bool is_inline(const Json& value) {
    if (!value.is_structured() || value.empty()) return true;
    return value.is_array() &&
           std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); });
}

std::string inline_text(const Json& value) {
    if (value.is_object()) return "{}";
    if (!value.is_array()) return scalar(value);
    std::string out = "[";
    for (const Json& item : value) {
        if (out.size() > 1) out += ", ";
        out += scalar(item);
    }
    return out + "]";
}

// `indent` is that of the block; its first line is already indented where it follows a dash.
void write_block(std::string& out, const Json& value, std::size_t indent, bool after_dash) {
    const std::string margin(indent, ' ');
    bool first = after_dash;
    for (const auto& [key, item] : value.items()) {
        if (!first) out += margin;
        first = false;
        const bool list = value.is_array();
        out += list ? "-" : key_of(key) + ":";
        if (is_inline(item)) {
            out += " " + inline_text(item) + "\n";
        } else if (list) {
            out += " ";
            write_block(out, item, indent + 2, true);
        } else {
            out += "\n";
            write_block(out, item, indent + 2, false);
        }
    }
}

}  // namespace

std::string yaml_of(const Json& document) {
    if (is_inline(document)) return inline_text(document) + "\n";
    std::string out;
    write_block(out, document, 0, false);
    return out;
}

}  // namespace reprieve
