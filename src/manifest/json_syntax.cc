#include "manifest/json_syntax.h"

#include <fmt/format.h>

#include <vector>

#include "base/ascii.h"

namespace reprieve {
namespace {

constexpr std::size_t kDeepestJson = 1000;

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Walk {
public:
    Walk(std::string_view text, std::size_t from) : text_(text), at_(from) {}

    JsonSpan run() {
        // What may come next; containers are kept on a stack, so that depth costs no recursion.
        bool value_next = true;
        do {
            skip_spaces();
            if (value_next) {
                value_next = value();
            } else {
                value_next = after_value();
            }
        } while (fault_.empty() && (value_next || !open_.empty()));
        return {at_, std::move(fault_)};
    }

private:
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_spaces() {
        while (at_ < text_.size() && is_json_space(text_[at_]))
            ++at_;
    }
    bool fail(std::string what) {
        if (fault_.empty()) fault_ = at_ < text_.size() ? std::move(what) : "the text ends too early";
        return false;
    }

    // True: another value comes next.
    bool value() {
        const char c = peek();
        if (c == '{') return open('{', '}');
        if (c == '[') return open('[', ']');
        if (c == '"') return string();
        if (c == '-' || is_digit(c)) return number();
        return word();
    }

    bool open(char opening, char closing) {
        ++at_;
        open_.push_back(opening);
        if (open_.size() > kDeepestJson) return fail("nested too deeply");
        skip_spaces();
        if (peek() == closing) return close();
        return opening == '[' || key();
    }

    bool close() {
        ++at_;
        open_.pop_back();
        return false;
    }

    bool after_value() {
        const bool in_object = open_.back() == '{';
        if (peek() == (in_object ? '}' : ']')) return close();
        if (peek() != ',') return fail(in_object ? "expected , or }" : "expected , or ]");
        ++at_;
        skip_spaces();
        return in_object ? key() : true;
    }

    bool key() {
        if (peek() != '"') return fail("expected a key in quotes");
        string();
        skip_spaces();
        if (fault_.empty() && peek() != ':') return fail("expected : after the key");
        ++at_;
        return fault_.empty();
    }

    bool string() {
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return false;
            }
            if (static_cast<unsigned char>(c) < ' ') return fail("a control character or line break in a string");
            if (c == '\\' && !escape()) return false;
        }
        return fail("");
    }

    bool escape() {
        ++at_;
        const char c = peek();
        if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos && c != '\0') return true;
        if (c != 'u') return fail("a bad escape sequence");
        for (int i = 0; i < 4; ++i) {
            ++at_;
            if (!is_hex(peek())) return fail("a bad escape sequence");
        }
        return true;
    }

    void digits() {
        if (!is_digit(peek())) fail("a malformed number");
        while (is_digit(peek()))
            ++at_;
    }

    bool number() {
        if (peek() == '-') ++at_;
        const bool zero = peek() == '0';
        const std::size_t from = at_;
        digits();
        if (zero && at_ > from + 1) return fail("a number with a leading zero");
        if (peek() == '.') {
            ++at_;
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            if (peek() == '+' || peek() == '-') ++at_;
            digits();
        }
        return false;
    }

    bool word() {
        for (const std::string_view known : {"true", "false", "null"}) {
            if (!text_.substr(at_).starts_with(known)) continue;
            at_ += known.size();
            return false;
        }
        return fail("expected a value");
    }

    std::string_view text_;
    std::size_t at_;
    std::vector<char> open_;
    std::string fault_;
};

}  // namespace

JsonSpan scan_json(std::string_view text, std::size_t from) { return Walk(text, from).run(); }

}  // namespace reprieve
