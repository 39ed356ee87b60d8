// The program: commands, their options, exit codes.
#pragma once

namespace reprieve {

// Returns what the process ends with.
int program(int argc, char** argv);

}  // namespace reprieve
