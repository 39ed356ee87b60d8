#include "loop/rest.h"

#include <algorithm>

namespace reprieve {
namespace {

// Rounded up: a wait that ends too early is a turn for nothing.
Duration between(Rest::Moment from, Rest::Moment to) {
    return {std::max<std::int64_t>(std::chrono::ceil<std::chrono::microseconds>(to - from).count(), 0)};
}

}  // namespace

Duration Rest::saved(Moment now) const {
    if (counted_ == Moment()) return saved_;  // nothing was planned yet
    return std::min(Duration{saved_.us + between(counted_, now).us / (options_.times + 1)}, options_.saves);
}

void Rest::planned(Moment from, Moment to) {
    const Duration took = between(from, to);
    saved_ = {std::max(saved(from).us - took.us, -options_.saves.us)};
    counted_ = to;
    until_ = to + std::chrono::microseconds(std::min(took.us * options_.times, options_.most.us));
}

Duration Rest::left(Moment now, bool is_urgent) const {
    if (is_urgent && saved(now).us > 0) return {};
    return between(now, until_);
}

}  // namespace reprieve
