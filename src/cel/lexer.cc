#include "cel/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace reprieve::cel {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Token wrong(std::size_t place, std::string what) {
    return {.kind = TokenKind::kWrong, .place = place, .text = std::move(what)};
}

bool append_utf8(std::uint32_t c, std::string& out) {
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    if (c < 0x80) {
        out.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
        out.push_back(static_cast<char>(0xC0U | c >> 6U));
        out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
    } else if (c < 0x10000) {
        out.push_back(static_cast<char>(0xE0U | c >> 12U));
        out.push_back(static_cast<char>(0x80U | (c >> 6U & 0x3FU)));
        out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
    } else {
        out.push_back(static_cast<char>(0xF0U | c >> 18U));
        out.push_back(static_cast<char>(0x80U | (c >> 12U & 0x3FU)));
        out.push_back(static_cast<char>(0x80U | (c >> 6U & 0x3FU)));
        out.push_back(static_cast<char>(0x80U | (c & 0x3FU)));
    }
    return true;
}

// Longest first.
constexpr std::array<std::string_view, 26> kSymbols{"&&", "||", "==", "!=", "<=", ">=", ".?", "[?", "(",
                                                    ")",  "[",  "]",  "{",  "}",  ".",  ",",  "?",  ":",
                                                    "<",  ">",  "!",  "+",  "-",  "*",  "/",  "%"};

}  // namespace

void Lexer::skip_space() {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            ++at_;
        } else if (text_.substr(at_).starts_with("//")) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else {
            return;
        }
    }
}

Token Lexer::next() {
    skip_space();
    const std::size_t from = at_;
    if (from == text_.size()) return {.kind = TokenKind::kEnd, .place = from, .spelling = "end of the expression"};
    const char c = text_[from];
    if (is_digit(c) || (c == '.' && from + 1 < text_.size() && is_digit(text_[from + 1]))) return number(from);
    if (c == '"' || c == '\'') return string(from, false);
    if (starts_name(c)) {
        while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_])))
            ++at_;
        const std::string_view name = text_.substr(from, at_ - from);
        if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
            if (name == "r" || name == "R") return string(from, true);
            if (name.size() <= 2 && name.find_first_not_of("bBrR") == std::string_view::npos)
                return wrong(from, "bytes are not supported");
        }
        return {.kind = TokenKind::kName, .place = from, .spelling = name};
    }
    for (std::string_view symbol : kSymbols) {
        if (!text_.substr(from).starts_with(symbol)) continue;
        at_ += symbol.size();
        return {.kind = TokenKind::kSymbol, .place = from, .spelling = text_.substr(from, symbol.size())};
    }
    return wrong(from, fmt::format("syntax error: unexpected '{}'", c));
}

Token Lexer::number(std::size_t from) {
    Token token{.kind = TokenKind::kInt, .place = from};
    const auto digits = [&](auto accepts) {
        while (at_ < text_.size() && accepts(text_[at_]))
            ++at_;
    };
    const bool hex = text_.substr(from).starts_with("0x") && from + 2 < text_.size() && is_hex(text_[from + 2]);
    if (hex) {
        at_ += 2;
        digits(is_hex);
    } else {
        digits(is_digit);
        if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
            token.kind = TokenKind::kDouble;
            ++at_;
            digits(is_digit);
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            std::size_t ahead = at_ + 1;
            if (ahead < text_.size() && (text_[ahead] == '+' || text_[ahead] == '-')) ++ahead;
            if (ahead < text_.size() && is_digit(text_[ahead])) {
                token.kind = TokenKind::kDouble;
                at_ = ahead;
                digits(is_digit);
            }
        }
    }
    token.spelling = text_.substr(from, at_ - from);
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'U'))
        return wrong(from, "unsigned integers are not supported");
    const char* const end = text_.data() + at_;
    if (token.kind == TokenKind::kDouble) {
        const auto read = std::from_chars(text_.data() + from, end, token.real);
        if (read.ec != std::errc{}) return wrong(from, "syntax error: invalid double literal");
        return token;
    }
    // The magnitude alone: a leading minus is an operator, and -2^63 is one of its results.
    std::uint64_t magnitude = 0;
    const auto read = std::from_chars(text_.data() + from + (hex ? 2 : 0), end, magnitude, hex ? 16 : 10);
    if (read.ec != std::errc{} || magnitude > (std::uint64_t{1} << 63U))
        return wrong(from, "syntax error: invalid int literal");
    token.number = static_cast<std::int64_t>(magnitude);
    return token;
}

bool Lexer::code_point(std::size_t digits, unsigned base, std::string& out) {
    if (at_ + digits > text_.size()) return false;
    std::uint32_t value = 0;
    const char* const from = text_.data() + at_;
    const auto read = std::from_chars(from, from + digits, value, static_cast<int>(base));
    if (read.ec != std::errc{} || read.ptr != from + digits) return false;
    at_ += digits;
    return append_utf8(value, out);
}

bool Lexer::escape(std::string& out) {
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kNames = "abfnrtv\\?\"'`";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\?\"'`";
    if (const std::size_t known = kNames.find(c); known != std::string_view::npos) {
        out.push_back(kValues[known]);
        return true;
    }
    if (c == 'x' || c == 'X') return code_point(2, 16, out);
    if (c == 'u') return code_point(4, 16, out);
    if (c == 'U') return code_point(8, 16, out);
    if (c < '0' || c > '3') return false;
    --at_;
    return code_point(3, 8, out);
}

Token Lexer::string(std::size_t from, bool raw) {
    const char quote = text_[at_];
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(at_).starts_with(triple);
    const std::string_view end = std::string_view(triple).substr(0, is_triple ? 3 : 1);
    at_ += end.size();
    Token token{.kind = TokenKind::kString, .place = from};
    while (true) {
        if (at_ == text_.size() || (!is_triple && (text_[at_] == '\n' || text_[at_] == '\r')))
            return wrong(from, "syntax error: the string does not end");
        if (text_.substr(at_).starts_with(end)) break;
        const char c = text_[at_++];
        if (c != '\\' || raw) {
            token.text.push_back(c);
        } else if (const std::size_t place = at_ - 1; !escape(token.text)) {
            return wrong(place, "syntax error: unknown escape");
        }
    }
    at_ += end.size();
    token.spelling = text_.substr(from, at_ - from);
    return token;
}

}  // namespace reprieve::cel
