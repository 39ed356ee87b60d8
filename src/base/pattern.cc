#include "base/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

namespace reprieve {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

// What other dialects have and this one has not deserves a better word than "invalid".
std::string fault_of(const re2::RE2& compiled) {
    const std::string& where = compiled.error_arg();
    const bool refers_back =
        compiled.error_code() == re2::RE2::ErrorBadEscape && where.size() == 2 && where[1] >= '1' && where[1] <= '9';
    if (refers_back) return fmt::format("has the backreference {}, which RE2 syntax does not know", where);
    if (compiled.error_code() == re2::RE2::ErrorBadPerlOp || where.starts_with("(?"))
        return fmt::format("has {}, which RE2 syntax does not know", where);
    return fmt::format("is not a regular expression (RE2 syntax): {}", compiled.error());
}

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto compiled = std::make_shared<const re2::RE2>(piece(text), options);
    if (!compiled->ok()) return fail(fault_of(*compiled));
    return Pattern(std::move(compiled));
}

bool Pattern::occurs_in(std::string_view text) const { return re2::RE2::PartialMatch(piece(text), *compiled_); }

}  // namespace reprieve
