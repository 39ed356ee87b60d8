// Proportion: how weighted claimants divide an amount, in exact integers.
//
// Nobody gets more than it requests, and nothing is left while somebody requests more.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace reprieve {

struct Claimant {
    std::int64_t weight = 0;
    std::int64_t request = 0;
    std::string_view name;
};

// By (request, name) each gets min(request, weight * left / weights left); what remains goes by (weight descending,
// name) up to the request. The parts stand in the order of the claimants.
[[nodiscard]] std::vector<std::int64_t> divide_by_weight(std::int64_t whole, std::span<const Claimant> claimants);

}  // namespace reprieve
