// Overlay: what the loop believes of a pod beyond what the API server last said of it, as text.
//
// A plan is made from what is believed: a pod that was just bound counts as bound before the watch says so. A record
// keeps the object as it was told, and beside it the fields that are believed to be otherwise; both together give the
// very pod that the plan was made from. Only the fields that the loop ever changes are compared.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/pod.h"
#include "model/vocabulary.h"

namespace reprieve {

// A JSON object on one line; empty: the pod is believed to be as it was told.
[[nodiscard]] std::string overlay_of(const Pod& told, const Pod& believed, const Vocabulary& words);
[[nodiscard]] Result<void> lay_over(Pod& pod, std::string_view overlay, Vocabulary& words);

}  // namespace reprieve
