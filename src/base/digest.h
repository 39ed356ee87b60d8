// Digest: an order-free digest of a set of objects: the sums of their hashes. Not for secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprieve {

struct Digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const Digest&, const Digest&) = default;
};

// Of the bytes of one object.
[[nodiscard]] Digest digest_bytes(std::string_view bytes);

}  // namespace reprieve
