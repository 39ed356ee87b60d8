// Tokens of an expression, one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprieve::cel {

enum class TokenKind : std::uint8_t { kEnd, kName, kInt, kDouble, kString, kSymbol, kWrong };

struct Token {
    TokenKind kind = TokenKind::kEnd;
    std::size_t place = 0;
    std::string_view spelling;
    std::int64_t number = 0;
    double real = 0;
    std::string text;  // of a string, escapes resolved; of a wrong token, what is wrong

    [[nodiscard]] bool is(std::string_view symbol) const { return kind == TokenKind::kSymbol && spelling == symbol; }
};

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}
    [[nodiscard]] Token next();

private:
    void skip_space();
    [[nodiscard]] Token number(std::size_t from);
    [[nodiscard]] Token string(std::size_t from, bool raw);
    // Appends what an escape stands for. False: there is no such escape.
    bool escape(std::string& out);
    bool code_point(std::size_t digits, unsigned base, std::string& out);

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace reprieve::cel
