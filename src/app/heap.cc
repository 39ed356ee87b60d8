#include "app/heap.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace reprieve {

void share_one_heap() {
#ifdef M_ARENA_MAX
    constexpr int kLargePiece = 128 << 10;
    mallopt(M_ARENA_MAX, 1);
    // Said explicitly, both stay: otherwise they follow the largest piece that was ever freed.
    mallopt(M_MMAP_THRESHOLD, kLargePiece);
    mallopt(M_TRIM_THRESHOLD, kLargePiece);
#endif
}

}  // namespace reprieve
