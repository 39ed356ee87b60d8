// The sections of a printed plan, each a Table that is empty where the plan has nothing of the kind.
#pragma once

#include "model/plan.h"
#include "text/table.h"

namespace reprieve {

// What was decided about pods, for whom, and how good that is.
[[nodiscard]] Table placements_section(const Plan& plan);
[[nodiscard]] Table evictions_section(const Plan& plan);
// An infeasible certificate of something that stands under `unplaced` is printed there.
[[nodiscard]] Table certificates_section(const Plan& plan);
[[nodiscard]] Table gifts_section(const Plan& plan);
[[nodiscard]] Table unplaced_section(const Plan& plan);

// What else changes in the cluster.
[[nodiscard]] Table nominations_section(const Plan& plan);
[[nodiscard]] Table scale_section(const Plan& plan);
[[nodiscard]] Table force_deletes_section(const Plan& plan);
[[nodiscard]] Table matches_section(const Plan& plan);
[[nodiscard]] Table annotations_section(const Plan& plan);

// A row for each queue and resource, with the use beyond its own share as `borrowed`. Empty where the only queue is
// `default` and nothing but its use is known: then nobody works with queues.
[[nodiscard]] Table queues_section(const Plan& plan);
[[nodiscard]] Table warnings_section(const Plan& plan);

}  // namespace reprieve
