#include "manifest/node_register.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "manifest/device_units.h"
#include "manifest/vgpu_fields.h"

namespace reprieve {
namespace {

using RegisterJson = nlohmann::json;

constexpr std::int64_t kMostShares = 1'000'000;

// One device of the older form; empty: well formed.
std::string read_fields(const std::vector<std::string_view>& fields, RegisterForm form, RegisteredDevice& out) {
    const bool hami = form == RegisterForm::kHami;
    const std::size_t least = hami ? 7 : 5;
    if (fields.size() < least) return fmt::format("has {} fields, not {} or more", fields.size(), least);
    out.id = fields[0];
    std::string fault;
    const auto number = [&](std::size_t at, std::string_view what, std::int64_t low, std::int64_t most, auto& into) {
        if (fault.empty() && at < fields.size()) fault = read_count(fields[at], what, low, most, into);
    };
    number(1, "the number of shares", 0, kMostShares, out.split);
    number(2, "the memory", 0, kMostMebi, out.memory_mebi);
    if (hami) number(3, "the cores", 0, kMostCoresPercent, out.cores_percent);
    if (hami) number(5, "the NUMA node", INT32_MIN, INT32_MAX, out.numa);
    if (hami) number(7, "the index", 0, kMostDevices, out.index);
    const std::size_t mode = hami ? 8 : 5;
    out.is_mig = mode < fields.size() && fields[mode] == "mig";
    const std::string_view health = fields[hami ? 6 : 4];
    out.healthy = health == "true";
    if (fault.empty() && health != "true" && health != "false")
        fault = fmt::format("the health \"{}\" is neither true nor false", health);
    return fault;
}

// A field that is missing is 0, or false, as its writer leaves such fields out.
std::string read_listed(const RegisterJson& json, RegisteredDevice& out) {
    if (!json.is_object()) return "is no object";
    std::string fault;
    const auto find = [&](const char* key) -> const RegisterJson* {
        const auto at = json.find(key);
        return at == json.end() || at->is_null() ? nullptr : &*at;
    };
    const auto number = [&](const char* key, std::int64_t low, std::int64_t most, auto& into) {
        const RegisterJson* value = find(key);
        into = 0;
        if (value == nullptr || !fault.empty()) return;
        const bool fits = value->is_number_integer() &&
                          (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}) &&
                          value->get<std::int64_t>() >= low && value->get<std::int64_t>() <= most;
        if (!fits) {
            fault = fmt::format("{} is no number from {} to {}", key, low, most);
            return;
        }
        into = static_cast<std::remove_reference_t<decltype(into)>>(value->get<std::int64_t>());
    };
    const auto text = [&](const char* key) {
        const RegisterJson* value = find(key);
        if (value != nullptr && !value->is_string() && fault.empty()) fault = fmt::format("{} is no text", key);
        return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    };
    out.id = text("id");
    number("index", 0, kMostDevices, out.index);
    number("count", 0, kMostShares, out.split);
    number("devmem", 0, kMostMebi, out.memory_mebi);
    number("devcore", 0, kMostCoresPercent, out.cores_percent);
    number("numa", INT32_MIN, INT32_MAX, out.numa);
    out.is_mig = text("mode") == "mig";
    const RegisterJson* health = find("health");
    out.healthy = health != nullptr && health->is_boolean() && health->get<bool>();
    if (health != nullptr && !health->is_boolean() && fault.empty()) fault = "health is neither true nor false";
    return fault;
}

Result<std::vector<RegisteredDevice>> read_json(std::string_view text) {
    const RegisterJson json = RegisterJson::parse(text, nullptr, false);
    if (json.is_discarded()) return fail("is not valid JSON");
    std::vector<RegisteredDevice> out;
    if (json.size() > static_cast<std::size_t>(kMostDevices)) return fail("has too many devices");
    for (const RegisterJson& item : json) {
        if (std::string fault = read_listed(item, out.emplace_back()); !fault.empty())
            return fail(fmt::format("device {}: {}", out.size() - 1, fault));
    }
    return out;
}

Result<std::vector<RegisteredDevice>> read_older(std::string_view text, RegisterForm form) {
    std::vector<RegisteredDevice> out;
    for (const std::string_view part : split_text(text, ':')) {
        if (part.empty()) continue;
        if (out.size() >= static_cast<std::size_t>(kMostDevices)) return fail("has too many devices");
        if (std::string fault = read_fields(split_text(part, ','), form, out.emplace_back()); !fault.empty())
            return fail(fmt::format("device {}: {}", out.size() - 1, fault));
    }
    return out;
}

// Older plugins register no index: then the place in the list is as good.
void settle_indexes(std::vector<RegisteredDevice>& devices) {
    std::set<std::int32_t> seen;
    if (std::ranges::all_of(devices, [&](const RegisteredDevice& d) { return seen.insert(d.index).second; })) return;
    for (std::size_t i = 0; i < devices.size(); ++i)
        devices[i].index = static_cast<std::int32_t>(i);
}

}  // namespace

Result<std::vector<RegisteredDevice>> read_node_register(std::string_view text, RegisterForm form) {
    text = without_blanks(text);
    if (text.empty()) return fail("is empty");
    auto devices = text.starts_with('[') ? read_json(text) : read_older(text, form);
    if (!devices) return devices;
    if (devices->empty()) return fail("lists no device");
    std::set<std::string_view> ids;
    for (std::size_t i = 0; i < devices->size(); ++i) {
        const std::string& id = (*devices)[i].id;
        if (id.empty()) return fail(fmt::format("device {}: has no id", i));
        if (!ids.insert(id).second) return fail(fmt::format("lists device {} twice", id));
    }
    settle_indexes(*devices);
    return devices;
}

}  // namespace reprieve
