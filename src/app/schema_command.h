// `reprieve schema plan|config`: JSON Schemas of what is written (plans) and of what is read (configurations).
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace reprieve {

// Built from the table of keys that the decoder uses.
[[nodiscard]] std::string config_schema();
[[nodiscard]] std::string plan_schema();

void add_schema_command(CLI::App& app);

}  // namespace reprieve
