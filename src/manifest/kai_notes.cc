#include "manifest/kai_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "manifest/device_units.h"
#include "manifest/vgpu_fields.h"

namespace reprieve {
namespace {

constexpr std::string_view kGroupLabel = "runai-gpu-group";
constexpr std::int32_t kWholeMilli = 1000;

void begin_share(DeviceAsk& devices) {
    devices.dialect = DeviceDialect::kKai;
    devices.shares = std::max(devices.shares, 1);
}

void doubt(Reading& reading, const Note& note, std::string what, Pod& pod, DeviceAsk& devices) {
    std::string sentence = fmt::format("{}: {}", note.path(), what);
    begin_share(devices);
    devices.share_memory = 0;
    devices.share_memory_milli = kWholeMilli;
    reading.warn(fmt::format("{}: {}", reading.subject(), sentence));
    if (pod.more().hold.empty()) pod.make_extras().hold = std::move(sentence);
}

void read_fraction(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices) {
    const std::string_view text = note.text(reading);
    const Result<Wide> nano = parse_nano_quantity(text);
    if (!nano || *nano <= 0 || *nano >= kNanoPerUnit)
        return doubt(reading, note, fmt::format("\"{}\" is no number between 0 and 1", text), pod, devices);
    begin_share(devices);
    const Wide milli = (*nano * kWholeMilli + kNanoPerUnit - 1) / kNanoPerUnit;
    devices.share_memory_milli = static_cast<std::int32_t>(milli);
}

void read_memory(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices) {
    std::int64_t mebi = 0;
    if (std::string fault = read_count(note.text(reading), "the memory", 1, kMostMebi, mebi); !fault.empty())
        return doubt(reading, note, std::move(fault), pod, devices);
    begin_share(devices);
    devices.share_memory = mebi * kMebi;
}

void read_number(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices) {
    std::int32_t number = 1;
    if (std::string fault = read_count(note.text(reading), "the number", 1, kMostDevices, number); !fault.empty())
        return doubt(reading, note, std::move(fault), pod, devices);
    begin_share(devices);
    devices.shares = number;
}

void read_group(Reading& reading, const Note& note, Pod& pod) {
    StringId group;
    note.read(reading, group);
    if (!group) return;
    auto& named = pod.make_extras().named_devices;
    // A pod that shares several devices has each group in a label of its own, and may have one of them in both.
    const auto same = [&](const NamedHold& one) { return one.by == NamedHold::By::kGroup && one.name == group; };
    if (std::ranges::none_of(named, same)) named.push_back({.by = NamedHold::By::kGroup, .name = group});
}

}  // namespace

bool read_kai_note(Reading& reading, const Note& note, Pod& pod, DeviceAsk& devices) {
    if (note.is_label()) {
        if (!note.key().starts_with(kGroupLabel)) return false;
        const std::string_view rest = note.key().substr(kGroupLabel.size());
        if (!rest.empty() && !rest.starts_with('/')) return false;
        read_group(reading, note, pod);
        return true;
    }
    switch (note.id()) {
        case "gpu-fraction"_key:
            read_fraction(reading, note, pod, devices);
            return true;
        case "gpu-memory"_key:
            read_memory(reading, note, pod, devices);
            return true;
        case "gpu-fraction-num-devices"_key:
            read_number(reading, note, pod, devices);
            return true;
        default:
            return false;
    }
}

void settle_kai_ask(Reading& reading, Pod& pod, DeviceAsk& devices) {
    if (devices.dialect != DeviceDialect::kKai || !pod.more().hold.empty()) return;
    std::string_view what;
    if (devices.share_memory > 0 && devices.share_memory_milli > 0)
        what = "annotations gpu-fraction and gpu-memory exclude each other";
    else if (devices.share_memory == 0 && devices.share_memory_milli == 0)
        what = "annotation gpu-fraction-num-devices needs gpu-fraction or gpu-memory";
    if (what.empty()) return;
    devices.share_memory = 0;
    devices.share_memory_milli = kWholeMilli;
    reading.warn(fmt::format("{}: {}", reading.subject(), what));
    pod.make_extras().hold = what;
}

void protect_keeper(const DeviceAsk& devices, Pod& pod) {
    const auto& named = pod.more().named_devices;
    if (devices.whole == 0 || named.empty() || named.front().by != NamedHold::By::kGroup) return;
    PodExtras& extras = pod.make_extras();
    extras.preemptible = false;
    extras.preemptible_marker = fmt::format("label {}: it keeps a device for others", kGroupLabel);
}

}  // namespace reprieve
