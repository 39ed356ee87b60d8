// The commands about records, for the command line.
#pragma once

namespace CLI {
class App;
}

namespace reprieve {

struct PlanningOptions;
// Adds --record, --at and --cycle to a command that plans.
void add_cycle_options(CLI::App* command, PlanningOptions& planning);

// Adds history, replay, export and referee; `code` is what the program ends with. What they keep lives until exit.
void add_record_commands(CLI::App& app, int& code);

}  // namespace reprieve
