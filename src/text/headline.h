// The sentence on top of an explanation.
#pragma once

#include <string>

#include "explain/explanation.h"
#include "text/paint.h"

namespace reprieve {

// "serving/embeddings-1 is evicted from gpu-2 to make room for serving/chat-0."
[[nodiscard]] std::string headline(const Explanation& explanation);
[[nodiscard]] Paint headline_paint(Outcome outcome);

}  // namespace reprieve
