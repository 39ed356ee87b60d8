#include "explain/threshold.h"

#include <algorithm>

namespace reprieve {
namespace {

class Bracket {
public:
    Bracket(std::int64_t below, std::int64_t above, const Question& holds)
        : below_(below),
          above_(above),
          holds_(holds) {}

    [[nodiscard]] bool closed() const { return above_ - below_ <= 1; }
    [[nodiscard]] bool contains(std::int64_t value) const { return value > below_ && value < above_; }
    [[nodiscard]] std::int64_t below() const { return below_; }
    [[nodiscard]] std::int64_t above() const { return above_; }

    // Narrows the bracket; false: no answer.
    bool ask(std::int64_t value) {
        if (!contains(value)) return true;
        const std::optional<bool> answer = holds_(value);
        if (!answer) return false;
        (*answer ? above_ : below_) = value;
        return true;
    }

private:
    std::int64_t below_;
    std::int64_t above_;
    const Question& holds_;
};

}  // namespace

std::optional<std::int64_t> find_threshold(std::int64_t below,
                                           std::int64_t above,
                                           std::vector<std::int64_t> hints,
                                           const Question& holds) {
    Bracket bracket(below, above, holds);
    std::ranges::sort(hints);
    while (true) {
        std::erase_if(hints, [&](std::int64_t hint) { return !bracket.contains(hint); });
        if (hints.empty()) break;
        if (!bracket.ask(hints[hints.size() / 2])) return std::nullopt;
    }
    // Between two hints the answer mostly changes at one of their ends.
    if (!bracket.ask(bracket.below() + 1) || !bracket.ask(bracket.above() - 1)) return std::nullopt;
    while (!bracket.closed()) {
        if (!bracket.ask(bracket.below() + (bracket.above() - bracket.below()) / 2)) return std::nullopt;
    }
    return bracket.above();
}

}  // namespace reprieve
