// What Prometheus' clients say of their own process: processor time, memory, files, when it began.
#pragma once

#include <string>

namespace reprieve {

// In Prometheus' text format; what the system does not tell is left out.
[[nodiscard]] std::string process_metrics();

}  // namespace reprieve
