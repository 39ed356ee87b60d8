#include "model/resources.h"

#include <algorithm>
#include <limits>

namespace reprieve {
namespace {

using Amount = Resources::Amount;

bool dim_before(const Amount& amount, Dim dim) { return amount.dim < dim; }

std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// Walks two sorted lists at once; a dimension that only `from` lists is combined with 0.
template <class Combine>
void merge(std::vector<Amount>& into, const Resources& from, Combine combine) {
    std::size_t at = 0;
    for (const Amount& amount : from) {
        while (at < into.size() && into[at].dim < amount.dim)
            ++at;
        if (at < into.size() && into[at].dim == amount.dim) {
            into[at].value = combine(into[at].value, amount.value);
        } else {
            into.insert(into.begin() + static_cast<std::ptrdiff_t>(at), Amount{amount.dim, combine(0, amount.value)});
        }
    }
}

}  // namespace

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

const std::int64_t* Resources::find(Dim dim) const {
    const auto at = std::lower_bound(amounts_.begin(), amounts_.end(), dim, dim_before);
    return at != amounts_.end() && at->dim == dim ? &at->value : nullptr;
}

std::int64_t Resources::get(Dim dim) const {
    const std::int64_t* value = find(dim);
    return value != nullptr ? *value : 0;
}

void Resources::set(Dim dim, std::int64_t value) {
    const auto at = std::lower_bound(amounts_.begin(), amounts_.end(), dim, dim_before);
    if (at != amounts_.end() && at->dim == dim) {
        at->value = value;
    } else {
        amounts_.insert(at, Amount{dim, value});
    }
}

void Resources::add(Dim dim, std::int64_t value) { set(dim, saturating_add(get(dim), value)); }

void Resources::erase(Dim dim) {
    std::erase_if(amounts_, [dim](const Amount& amount) { return amount.dim == dim; });
}

void Resources::add(const Resources& other) { merge(amounts_, other, saturating_add); }

void Resources::subtract(const Resources& other) { merge(amounts_, other, saturating_subtract); }

void Resources::raise_to(const Resources& other) {
    merge(amounts_, other, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}

void Resources::drop_zeros() {
    std::erase_if(amounts_, [](const Amount& amount) { return amount.value == 0; });
}

}  // namespace reprieve
