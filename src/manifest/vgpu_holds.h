// The devices of a running pod as HAMi and Volcano write them: "ID,TYPE,MEMORY,CORES:" for each device of a container,
// containers apart by ";". A container may have none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprieve {

struct VgpuHold {
    std::string_view id;  // into the text; of a device that is cut by hardware, the device
    std::int64_t memory_mebi = 0;
    std::int32_t cores_percent = 0;
    friend bool operator==(const VgpuHold&, const VgpuHold&) = default;
};

// In the order written; a device may stand there more than once. The error says which entry.
[[nodiscard]] Result<std::vector<VgpuHold>> read_vgpu_holds(std::string_view text);

}  // namespace reprieve
