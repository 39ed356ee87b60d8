// What is written on a Queue about what it was granted. The next cycle reads the grant from there.
#pragma once

#include <map>
#include <string>

#include "model/plan.h"

namespace reprieve {

// Annotations of a queue that a plan balanced; of any other, none.
[[nodiscard]] std::map<std::string, std::string> queue_notes(const QueueReport& report);

// Amounts in the units of the model, as quantities: "1500m" of cpu, "1024" of all else.
[[nodiscard]] std::map<std::string, std::string> quantities_of(const NamedAmounts& amounts);

}  // namespace reprieve
