// `kubectl reprieve ...`: the program under the name kubectl-reprieve. Questions about the cluster of the current
// context, from the view of whoever asks; it writes nothing.
#pragma once

#include <string_view>

namespace reprieve {

// Whether the program was called by that name.
[[nodiscard]] bool is_kubectl_plugin(std::string_view program);
[[nodiscard]] int kubectl_plugin(int argc, char** argv);

}  // namespace reprieve
