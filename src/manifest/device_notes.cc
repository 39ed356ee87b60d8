// Which devices a running pod holds, as annotations record it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "manifest/device_units.h"
#include "manifest/pod_notes.h"

namespace reprieve {
namespace {

// "0", "0:4Gi" or "0:500m"; empty: well formed.
std::string read_hold(std::string_view text, DeviceHold& out) {
    const std::size_t colon = text.find(':');
    const std::string_view index = text.substr(0, colon);
    const char* end = index.data() + index.size();
    const auto read = std::from_chars(index.data(), end, out.index);
    if (read.ec != std::errc{} || read.ptr != end || out.index < 0)
        return fmt::format("\"{}\" does not start with a device index", text);
    if (colon == std::string_view::npos) return {};
    const std::string_view share = text.substr(colon + 1);
    const bool is_milli = share.ends_with('m');
    const Result<std::int64_t> amount = parse_quantity(share, is_milli ? QuantityUnit::kMilli : QuantityUnit::kWhole);
    if (!amount) return amount.error().message;
    if (*amount <= 0) return fmt::format("\"{}\" is no share of a device", text);
    (is_milli ? out.milli : out.memory) = *amount;
    return {};
}

// Sorted; false: a device is named twice.
bool sort_holds(std::vector<DeviceHold>& holds) {
    std::sort(holds.begin(), holds.end());
    const auto same = [](const DeviceHold& a, const DeviceHold& b) { return a.index == b.index; };
    return std::adjacent_find(holds.begin(), holds.end(), same) == holds.end();
}

void read_koordinator_hold(Cursor& at, DeviceHold& out) {
    std::int64_t core = 0;
    std::int64_t ratio = 0;
    std::int64_t memory = 0;
    bool minor_written = false;
    for (Fields f(at); f.next();) {
        if (f.id() == "minor"_key) {
            f->read(out.index, 0);
            minor_written = true;
        } else if (f.id() == "resources"_key) {
            for (Fields resource(*f); resource.next();) {
                switch (resource.id()) {
                    case "koordinator.sh/gpu-core"_key:
                        resource->read_quantity(core, QuantityUnit::kWhole);
                        break;
                    case "koordinator.sh/gpu-memory-ratio"_key:
                        resource->read_quantity(ratio, QuantityUnit::kWhole);
                        break;
                    case "koordinator.sh/gpu-memory"_key:
                        resource->read_quantity(memory, QuantityUnit::kWhole);
                        break;
                    default:
                        break;
                }
            }
        }
    }
    if (!minor_written) return at.wrong("minor", "is missing");
    if (std::max(core, ratio) >= kWholePercent) return;  // whole
    out.memory = memory;
    out.milli = core * kMilliPerPercent;
    if (memory == 0 && core == 0) out.milli = ratio * kMilliPerPercent;
}

}  // namespace

void read_held_devices(Reading& reading, const Note& note, std::vector<DeviceHold>& out) {
    std::string_view text = note.text(reading);
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        while (item.starts_with(' '))
            item.remove_prefix(1);
        while (item.ends_with(' '))
            item.remove_suffix(1);
        if (std::string fault = read_hold(item, out.emplace_back()); !fault.empty())
            return note.wrong(reading, std::move(fault));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
        if (text.empty()) return note.wrong(reading, "ends in a comma");
    }
    if (!sort_holds(out)) note.wrong(reading, "names a device twice");
}

void read_koordinator_devices(Reading& reading, const Note& note, std::vector<DeviceHold>& out) {
    note.read_json(reading, [&](Cursor& at) {
        for (Fields f(at); f.next();) {
            if (f.id() != "gpu"_key) continue;
            for (Items item(*f); item.next();)
                read_koordinator_hold(*item, out.emplace_back());
        }
    });
    if (!sort_holds(out)) note.wrong(reading, "names a device twice");
}

}  // namespace reprieve
