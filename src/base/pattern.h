// Pattern: a regular expression as Go and Kubernetes understand it (RE2 syntax), matched in linear time.
//
// Patterns come from files that anybody may have written; there is none that takes forever.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace reprieve {

class Pattern {
public:
    // The error says what is wrong with the text, without repeating it.
    [[nodiscard]] static Result<Pattern> parse(std::string_view text);

    // Whether some part of `text` matches.
    [[nodiscard]] bool occurs_in(std::string_view text) const;

private:
    explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace reprieve
