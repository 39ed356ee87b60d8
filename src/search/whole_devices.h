// Whether devices need a look of their own, or free amounts alone say how many of them there are.
#pragma once

#include "search/session.h"

namespace reprieve {

// On this node, for an ask of whole devices: every device that is free in number is idle, none is held in part, and so
// it stays, whoever goes.
[[nodiscard]] bool devices_by_amounts(const Session& session, const DeviceAsk& ask, NodeId node);

}  // namespace reprieve
