#include "manifest/yaml_scalar.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "base/ascii.h"

namespace reprieve {
namespace {

std::string_view take_digits(std::string_view& text) {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count]))
        ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

// 0x1F and 0o17.
bool append_based(std::string_view text, std::string& out) {
    const bool hex = text.starts_with("0x");
    if (!hex && !text.starts_with("0o")) return false;
    text.remove_prefix(2);
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value, hex ? 16 : 8);
    if (text.empty() || read.ec != std::errc{} || read.ptr != end) return false;
    out += std::to_string(value);
    return true;
}

// [-+]?(digits[.digits] | .digits)[exponent], with what JSON insists on filled in.
bool append_decimal(std::string_view text, std::string& out) {
    std::string number;
    if (text.starts_with('-')) number = "-";
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);

    std::string_view whole = take_digits(text);
    std::string_view fraction;
    const bool point = text.starts_with('.');
    if (point) {
        text.remove_prefix(1);
        fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) return false;
    while (whole.size() > 1 && whole.front() == '0')
        whole.remove_prefix(1);
    number += whole.empty() ? std::string_view("0") : whole;
    if (point) (number += '.') += fraction.empty() ? std::string_view("0") : fraction;

    if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
        number += 'e';
        text.remove_prefix(1);
        if (text.starts_with('-')) number += '-';
        if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
        const std::string_view exponent = take_digits(text);
        if (exponent.empty()) return false;
        number += exponent;
    }
    if (!text.empty()) return false;
    out += number;
    return true;
}

}  // namespace

void append_plain_scalar(std::string_view scalar, std::string& out) {
    if (scalar == "true" || scalar == "True" || scalar == "TRUE") {
        out += "true";
    } else if (scalar == "false" || scalar == "False" || scalar == "FALSE") {
        out += "false";
    } else if (scalar == "null" || scalar == "Null" || scalar == "NULL" || scalar == "~" || scalar.empty()) {
        out += "null";
    } else if (!append_based(scalar, out) && !append_decimal(scalar, out)) {
        append_json_string(scalar, out);
    }
}

void append_json_string(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < ' ') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    out += '"';
}

}  // namespace reprieve
