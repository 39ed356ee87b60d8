#include "base/child_process.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace reprieve {

void end_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The signal is sent when the parent ends: one that ended before the call above would never cause it.
    if (getppid() != parent) _exit(1);
}

}  // namespace reprieve
