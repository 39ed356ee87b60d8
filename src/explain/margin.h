// Margin: what would have spared a victim, and what would have given an unplaced one its room.
//
// Each remedy is the smallest change of one thing that does it: planned again with it, the outcome is another; with one
// less, it is not. All of it within the number of plans that are allowed.
#pragma once

#include <string>

#include "explain/retrials.h"
#include "explain/subject.h"

namespace reprieve {

[[nodiscard]] Margin margin_of_victim(Retrials& trials, const Subject& subject, const std::string& owner);

// The lowest priority with which it would be placed; nullopt: none would help, or it was not found in time.
[[nodiscard]] std::optional<Remedy> placing_priority(Retrials& trials, const Subject& subject);

// How strong whoever room is made for attacks; nullopt: nobody of that name waits.
[[nodiscard]] std::optional<std::int32_t> attack_priority(const Cluster& cluster, const std::string& owner);

}  // namespace reprieve
