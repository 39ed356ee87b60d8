#include "base/digest.h"

#include "base/hash.h"

namespace reprieve {

// Two hashes in one pass: each waits for its own last step only, so both take the time of one.
Digest digest_bytes(std::string_view bytes) {
    HashState low(bytes.size(), kHashSeed);
    HashState high(bytes.size(), 0xA0761D6478BD642FULL);
    for_each_word(bytes, [&](std::uint64_t word) {
        low.add(word);
        high.add(word);
    });
    return {low.value(), mix_hash(low.value(), high.value())};
}

}  // namespace reprieve
