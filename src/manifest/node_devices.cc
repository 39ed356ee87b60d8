#include "manifest/node_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/device_units.h"
#include "manifest/node_register.h"
#include "manifest/vgpu_fields.h"

namespace reprieve {
namespace {

void decode_device(Cursor& at, Device& out) {
    bool index_written = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "index"_key:
                f->read(out.index, 0);
                index_written = true;
                break;
            case "memory"_key:
                f->read_quantity(out.memory, QuantityUnit::kWhole);
                break;
            case "numa"_key:
                f->read(out.numa);
                break;
            case "group"_key:
                f->read(out.group);
                break;
            default:
                break;
        }
    }
    if (!index_written) at.wrong("index", "is missing");
}

void read_own_list(Reading& reading, const Note& note, Node& node) {
    note.read_json(reading, [&](Cursor& at) {
        for (Items item(at); item.next();)
            decode_device(*item, node.devices.emplace_back());
    });
    std::sort(node.devices.begin(), node.devices.end());
    const auto same = [](const Device& a, const Device& b) { return a.index == b.index; };
    if (std::adjacent_find(node.devices.begin(), node.devices.end(), same) != node.devices.end()) {
        note.wrong(reading, "lists an index twice");
    }
    node.dialects.add_all();
}

// A register that cannot be read leaves the node without devices: shares wait, and whole devices are not made up from a
// number that counts shares. The object is the device plugin's, so it is a warning and no error.
void read_register(Reading& reading, const Note& note, RegisterForm form, Node& node) {
    const auto devices = read_node_register(note.text(reading), form);
    if (!devices) {
        return reading.warn(fmt::format(
            "{}: {}: {}; no device is given away there", reading.subject(), note.path(), devices.error().message));
    }
    node.dialects.add(form == RegisterForm::kHami ? DeviceDialect::kHami : DeviceDialect::kVgpu);
    for (const RegisteredDevice& one : *devices) {
        if (one.is_mig) {
            reading.warn(fmt::format(
                "{}: {}: device {} is in MIG mode, which is not planned", reading.subject(), note.path(), one.id));
        }
        if (!one.healthy || one.is_mig || one.split == 0) continue;
        node.devices.push_back({.index = one.index,
                                .memory = one.memory_mebi * kMebi,
                                .numa = one.numa,
                                .milli = one.cores_percent * kMilliPerPercent,
                                .sharers = one.split,
                                .id = reading.words().string(one.id)});
    }
    std::sort(node.devices.begin(), node.devices.end());
}

// volcano.sh/gpu-number cards with an equal part of volcano.sh/gpu-memory (MiB) each. False: not registered so.
bool count_cards(ObjectSource& from, const Resources& capacity, Node& node) {
    const Resources& offers = capacity.empty() ? node.allocatable : capacity;
    const Dim number_dim = from.words().find_dimension("volcano.sh/gpu-number");
    const Dim memory_dim = from.words().find_dimension("volcano.sh/gpu-memory");
    if (!number_dim || !memory_dim) return false;
    const std::int64_t number = offers.get(number_dim);
    const std::int64_t memory = offers.get(memory_dim);
    if (number <= 0 || memory <= 0) return false;
    if (number > kMostDevices || memory / number > kMostMebi) {
        from.root.wrong("status.capacity", "volcano.sh/gpu-number and gpu-memory are more than a node can have");
        return true;
    }
    std::vector<std::int32_t> broken;
    for (const Note& note : from.metadata.notes) {
        if (note.is_label() || note.id() != "volcano.sh/gpu-unhealthy-ids"_key) continue;
        for (const std::string_view item : split_text(note.text(from.reading), ',')) {
            std::int32_t index = 0;
            if (read_count(item, "", 0, kMostDevices, index).empty()) broken.push_back(index);
        }
    }
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(number); ++i) {
        if (std::ranges::find(broken, i) == broken.end())
            node.devices.push_back({.index = i, .memory = memory / number * kMebi});
    }
    node.dialects.add(DeviceDialect::kGpuShare);
    if (!node.device_dim) node.device_dim = number_dim;
    return true;
}

// The resource that counts the devices of the node; none if it has none.
Dim device_dim_of(const Node& node, const Vocabulary& words) {
    Dim found;
    for (const Resources::Amount& amount : node.allocatable) {
        const std::string_view name = words.text(amount.dim);
        if (is_device_resource(name) && amount.value > 0 && (!found || name == kUsualDevice)) found = amount.dim;
    }
    return found;
}

std::int64_t label_number(ObjectSource& from, std::string_view key) {
    std::int64_t value = 0;
    for (const Note& note : from.metadata.notes) {
        const std::string_view text = note.is_label() && note.key() == key ? note.text(from.reading) : "";
        if (!text.empty() && !read_count(text, "", 0, INT64_MAX, value).empty()) value = 0;
    }
    return value;
}

// KAI shares the devices that the stock device plugin counts. How large they are, the labels of NVIDIA's feature
// discovery say, in MiB (older ones in bytes); as there, counted in hundreds of MiB.
void describe_for_kai(ObjectSource& from, Node& node) {
    if (label_number(from, "nvidia.com/gpu.replicas") > 1) return;  // time-sliced: what is counted is no device
    node.dialects.add(DeviceDialect::kKai);
    std::int64_t mebi = label_number(from, "nvidia.com/gpu.memory");
    if (mebi >= kMebi) mebi /= kMebi;
    if (mebi > kMostMebi) return;
    for (Device& device : node.devices)
        device.memory = (mebi - mebi % 100) * kMebi;
}

void make_up_devices(ObjectSource& from, Node& node) {
    const std::int64_t count = node.allocatable.get(node.device_dim);
    if (count > kMostDevices) {
        return from.root.wrong("status.allocatable", fmt::format("{} devices are more than a node can have", count));
    }
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i)
        node.devices.push_back({.index = i});
    if (from.words().text(node.device_dim) == kUsualDevice) describe_for_kai(from, node);
}

const Note* annotation(const ObjectSource& from, KeyId key) {
    const auto& notes = from.metadata.notes;
    const auto at = std::ranges::find_if(notes, [&](const Note& n) { return !n.is_label() && n.id() == key; });
    return at == notes.end() ? nullptr : &*at;
}

}  // namespace

void settle_devices(ObjectSource& from, const Resources& capacity, Node& node) {
    node.device_dim = device_dim_of(node, from.words());
    if (const Note* own = annotation(from, "reprieve.dev/devices"_key)) {
        read_own_list(from.reading, *own, node);
        if (!node.devices.empty() && !node.device_dim) node.device_dim = from.words().dimension(kUsualDevice);
        return;
    }
    const Note* volcano = annotation(from, "volcano.sh/node-vgpu-register"_key);
    if (const Note* hami = annotation(from, "hami.io/node-nvidia-register"_key)) {
        if (volcano != nullptr)
            from.reading.warn(fmt::format("{}: {}: not read, because {} says which devices the node has",
                                          from.reading.subject(),
                                          volcano->path(),
                                          hami->key()));
        return read_register(from.reading, *hami, RegisterForm::kHami, node);
    }
    if (volcano != nullptr) return read_register(from.reading, *volcano, RegisterForm::kVolcano, node);
    if (count_cards(from, capacity, node)) return;
    if (node.device_dim) make_up_devices(from, node);
}

}  // namespace reprieve
