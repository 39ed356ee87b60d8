// Which devices a running pod holds, as annotations record it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "manifest/device_units.h"
#include "manifest/pod_notes.h"
#include "manifest/vgpu_fields.h"
#include "manifest/vgpu_holds.h"

namespace reprieve {
namespace {

// "4Gi" or "500m"; empty: well formed.
std::string read_part(std::string_view share, DeviceHold& out) {
    const bool is_milli = share.ends_with('m');
    std::int64_t& part = is_milli ? out.milli : out.memory;
    const Result<std::int64_t> amount = parse_quantity(share, is_milli ? QuantityUnit::kMilli : QuantityUnit::kWhole);
    if (!amount) return amount.error().message;
    if (*amount <= 0) return fmt::format("\"{}\" is no share of a device", share);
    if (part > 0) return fmt::format("\"{}\" is a second share of one kind", share);
    part = *amount;
    return {};
}

// "0", "0:4Gi", "0:500m" or "0:4Gi:500m"; empty: well formed.
std::string read_hold(std::string_view text, DeviceHold& out) {
    const std::size_t colon = text.find(':');
    const std::string_view index = text.substr(0, colon);
    const char* end = index.data() + index.size();
    const auto read = std::from_chars(index.data(), end, out.index);
    if (read.ec != std::errc{} || read.ptr != end || out.index < 0)
        return fmt::format("\"{}\" does not start with a device index", text);
    std::string fault;
    for (std::size_t at = colon; at != std::string_view::npos && fault.empty();) {
        const std::size_t next = text.find(':', at + 1);
        fault = read_part(text.substr(at + 1, next - at - 1), out);
        at = next;
    }
    return fault;
}

// Sorted; false: a device is named twice.
bool sort_holds(std::vector<DeviceHold>& holds) {
    std::sort(holds.begin(), holds.end());
    const auto same = [](const DeviceHold& a, const DeviceHold& b) { return a.index == b.index; };
    return std::adjacent_find(holds.begin(), holds.end(), same) == holds.end();
}

void ignore_note(Reading& reading, const Note& note, std::string_view fault) {
    reading.warn(fmt::format("{}: {}: {}; which devices it holds is assumed", reading.subject(), note.path(), fault));
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

void read_vgpu_devices(Reading& reading, const Note& note, Pod& pod) {
    const auto holds = read_vgpu_holds(note.text(reading));
    if (!holds) return ignore_note(reading, note, holds.error().message);
    if (holds->empty()) return;
    auto& named = pod.make_extras().named_devices;
    named.clear();
    for (const VgpuHold& hold : *holds) {
        named.push_back({.by = NamedHold::By::kId,
                         .name = reading.words().string(hold.id),
                         .memory = hold.memory_mebi * kMebi,
                         .milli = hold.cores_percent * kMilliPerPercent});
    }
    std::sort(named.begin(), named.end());
}

void read_card_indexes(Reading& reading, const Note& note, Pod& pod) {
    std::vector<NamedHold> named;
    for (const std::string_view item : split_text(note.text(reading), ',')) {
        NamedHold& hold = named.emplace_back(NamedHold{.by = NamedHold::By::kIndex});
        std::string fault = read_count(item, "the index", 0, kMostDevices, hold.index);
        if (!fault.empty()) return ignore_note(reading, note, fault);
    }
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    if (pod.more().named_devices.empty()) pod.make_extras().named_devices = std::move(named);
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
