// TimelineCheck: what a timeline applies, read before anything happens. Later nobody would look at the file any more.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/store.h"
#include "sim/timeline.h"

namespace reprieve {

// Every object is read as it will be when its event comes, as far as that is known: upon what the store holds and what
// earlier events apply. The error names file, line and event; the result are warnings, of fields that no such kind has.
[[nodiscard]] Result<std::vector<std::string>> check_timeline(const std::vector<TimelineEvent>& timeline,
                                                              const Store& store);

}  // namespace reprieve
