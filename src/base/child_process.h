// What a process that was forked off does about its parent.
#pragma once

#include <sys/types.h>

namespace reprieve {

// Ends this process when `parent` ends, however that ends, also if it has ended already. To be called by the child
// first of all; `parent` is what getpid() said before the fork.
void end_with_parent(pid_t parent);

}  // namespace reprieve
