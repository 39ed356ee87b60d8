// Quantities, times and durations: what is accepted is printed and read back, and units agree with each other.
#include "base/check.h"
#include "base/quantity.h"
#include "base/time.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto whole = parse_quantity(text, QuantityUnit::kWhole);
    const auto milli = parse_quantity(text, QuantityUnit::kMilli);
    if (whole && milli) {
        // Both round away from zero, so a whole unit is at most one unit more than its thousandths.
        const __int128 difference = static_cast<__int128>(*whole) * 1000 - *milli;
        REPRIEVE_CHECK(*whole >= 0 ? difference >= 0 && difference < 1000 : difference <= 0 && difference > -1000);
        REPRIEVE_CHECK((*whole == 0) == (*milli == 0));
    }
    if (milli) REPRIEVE_CHECK(parse_quantity(format_cpu(*milli), QuantityUnit::kMilli) == *milli);
    if (whole && *whole >= 0) REPRIEVE_CHECK(parse_quantity(format_bytes(*whole), QuantityUnit::kWhole).has_value());

    if (const auto time = parse_time(text)) REPRIEVE_CHECK(parse_time(format_time(*time))->us == time->us);
    if (const auto duration = parse_duration(text))
        REPRIEVE_CHECK(parse_duration(format_duration(*duration))->us == duration->us);
    return 0;
}
