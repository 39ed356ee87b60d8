#include "text/stability_text.h"

#include <fmt/format.h>

#include "text/cost_words.h"

namespace reprieve {

std::string stability_to_text(const StabilityReport& report, bool evicts) {
    std::string out = "Verified\n";
    if (evicts) {
        out += "  while its victims leave, nobody else goes for the same demands\n";
        out += "  victims that come back at once cost nobody the room that was made\n";
    } else {
        out += "  it evicts nobody, so nobody can come back\n";
    }
    return out +
           fmt::format("  followed to the end, with victims coming back each time, it rests after {}, {} in all\n",
                       count_words(report.cycles, "cycle", "cycles"),
                       count_words(report.evictions, "eviction", "evictions"));
}

}  // namespace reprieve
