// Which devices a node has, by the word that knows most of them: the user's annotation, then what a device plugin
// registered, then the number that the node counts.
#pragma once

#include "manifest/object_source.h"

namespace reprieve {

// REQUIRES: the node's labels are still in `from.metadata`. `capacity`: status.capacity, where it is written.
void settle_devices(ObjectSource& from, const Resources& capacity, Node& node);

}  // namespace reprieve
