// Categories: how far each replica is on its way out. Who is further makes the better victim: it costs nobody anything
// new, and the next cycle finds the same one again.
#pragma once

#include <cstdint>
#include <vector>

#include "actions/serving/world.h"

namespace reprieve::serving {

enum class Category : std::uint8_t {
    kForceDelete = 1,  // deleted by force already
    kTerminating = 2,
    kSurplus = 3,  // beyond the commit: its controller is about to delete it
    kNormal = 4    // covered by the commit
};

[[nodiscard]] const char* to_text(Category category);

// Bound, not leaving.
[[nodiscard]] inline bool is_active(const Replica& replica) {
    return replica.node.valid() && replica.stage == Stage::kActive;
}

// Of each replica of the world. One that is not bound is in no category; it is told kNormal and is nobody's victim.
[[nodiscard]] std::vector<Category> categorize(const World& world);

// Newer first, then the higher name in byte order: who goes before whom where nothing else tells them apart.
[[nodiscard]] bool fresher(const Replica& a, const Replica& b);

}  // namespace reprieve::serving
