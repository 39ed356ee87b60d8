// Trial: a world, decided and judged in a process of its own, so that a program that stops is one more fault.
#pragma once

#include <optional>
#include <string>

#include "judge.h"

namespace reprieve::worlds {

// Also plans the world that the decision leaves behind, and listens to what the audit says of that.
[[nodiscard]] Judgement try_world(const World& world);

// The same fault in a world without some of its pods, nodes and rules: nothing more can be left out.
[[nodiscard]] World shrink(World world, Fault fault);

// Whether the judgement has the fault; if so, the first complaint of that kind.
[[nodiscard]] std::optional<Complaint> find(const Judgement& judgement, Fault fault);

}  // namespace reprieve::worlds
