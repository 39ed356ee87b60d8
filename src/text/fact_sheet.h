// FactSheet: a sentence, and below it labelled facts in an aligned column, wrapped to the terminal.
//
// Everything that goes in is made harmless here.
#pragma once

#include <string>
#include <vector>

#include "text/table.h"

namespace reprieve {

class FactSheet {
public:
    explicit FactSheet(std::string headline, Paint paint = Paint::kBold)
        : headline_(std::move(headline)),
          paint_(paint) {}

    // Several under one label stand below each other; nothing is said where the text is empty.
    void add(const std::string& label, const std::string& text, Paint paint = Paint::kPlain);
    [[nodiscard]] std::string print(const TableStyle& style) const;

private:
    struct Fact {
        std::string label;
        std::string text;
        Paint paint = Paint::kPlain;
    };

    std::string headline_;
    Paint paint_;
    std::vector<Fact> facts_;
};

}  // namespace reprieve
