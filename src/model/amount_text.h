// An amount of a resource in a sentence, as people write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprieve {

// Memory, storage, huge pages.
[[nodiscard]] bool is_in_bytes(std::string_view resource);

// "1500m" of cpu, "1.5Gi" of memory, "4" of anything else. Bytes that are no round number have two decimals, "5.33Gi";
// where these would look like a round number that it is not, "just over 4Gi": people compare what a sentence says.
[[nodiscard]] std::string amount_text(std::string_view resource, std::int64_t value);

}  // namespace reprieve
