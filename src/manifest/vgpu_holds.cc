#include "manifest/vgpu_holds.h"

#include <fmt/format.h>

#include "manifest/device_units.h"
#include "manifest/vgpu_fields.h"

namespace reprieve {
namespace {

std::string read_entry(std::string_view text, VgpuHold& out) {
    const std::vector<std::string_view> fields = split_text(text, ',');
    if (fields.size() < 4) return "has fewer than 4 fields";
    out.id = fields[0].substr(0, fields[0].find('['));  // "GPU-1[2-0]": an instance on GPU-1
    if (out.id.empty()) return "names no device";
    std::string fault = read_count(fields[2], "the memory", 0, kMostMebi, out.memory_mebi);
    if (fault.empty()) fault = read_count(fields[3], "the cores", 0, kMostCoresPercent, out.cores_percent);
    return fault;
}

}  // namespace

Result<std::vector<VgpuHold>> read_vgpu_holds(std::string_view text) {
    std::vector<VgpuHold> out;
    for (const std::string_view container : split_text(text, ';')) {
        for (const std::string_view entry : split_text(container, ':')) {
            if (entry.empty()) continue;
            if (out.size() >= static_cast<std::size_t>(kMostDevices)) return fail("names too many devices");
            if (std::string fault = read_entry(entry, out.emplace_back()); !fault.empty())
                return fail(fmt::format("\"{}\": {}", entry, fault));
        }
    }
    return out;
}

}  // namespace reprieve
