// Plans as text: the JSON and YAML that scripts read, and back.
//
// The bytes are stable: keys in a fixed order, two spaces of indent, one newline at the end. Writing what was
// read gives the same bytes. Names are written as they are; bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/plan.h"

namespace reprieve {

[[nodiscard]] std::string plan_to_json(const Plan& plan);
// Its `queues` alone.
[[nodiscard]] std::string queues_to_json(const Plan& plan);
[[nodiscard]] std::string plan_to_yaml(const Plan& plan);
// The same document on one line, for logs.
[[nodiscard]] std::string plan_to_json_line(const Plan& plan);

// The error names the key: `evictions[3].unit: ...`.
[[nodiscard]] Result<Plan> plan_from_json(std::string_view text);

}  // namespace reprieve
