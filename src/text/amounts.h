// Amounts for people: cores, Gi, counts. Rounded to what a person compares; the exact integers are in the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reprieve {

// "1.5" cores of cpu, "7.58Gi" of what is measured in bytes, else the number itself.
[[nodiscard]] std::string human_amount(std::string_view resource, std::int64_t amount);

// "0", "512", "1.5Ki", "7.58Gi".
[[nodiscard]] std::string human_bytes(std::int64_t bytes);

}  // namespace reprieve
