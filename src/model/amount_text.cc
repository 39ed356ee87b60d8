#include "model/amount_text.h"

#include "base/quantity.h"

namespace reprieve {

std::string amount_text(Dim dim, std::int64_t value) {
    if (dim == kCpu) return format_cpu(value);
    return dim == kMemory || dim == kEphemeralStorage ? format_bytes(value) : std::to_string(value);
}

}  // namespace reprieve
