// How a program that runs for weeks asks the system for memory.
#pragma once

namespace reprieve {

// Before the first thread: large pieces of memory are the system's again as soon as they are free, and all threads
// share one heap, so that what one of them has freed the others can use. See docs/decisions/0092.
void share_one_heap();

}  // namespace reprieve
