// The devices of a node as a device plugin of HAMi or Volcano registers them in an annotation of the node.
//
// Two forms: a JSON list of objects, and the older "ID,SPLIT,MEMORY,...:" for each device. They come from outside: what
// cannot be read makes the whole register unreadable, since half of a node's devices would be a lie about the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprieve {

// Whose order of fields the older form has.
enum class RegisterForm : std::uint8_t {
    kHami,     // id, split, memory, cores, type, numa, health [, index, mode]
    kVolcano,  // id, split, memory, type, health [, mode]
};

struct RegisteredDevice {
    std::string id;
    std::int32_t index = 0;  // of the device on its node: distinct, as registered or by its place in the list
    std::int32_t split = 0;  // shares at most
    std::int64_t memory_mebi = 0;
    std::int32_t cores_percent = 100;
    std::int32_t numa = 0;
    bool healthy = true;
    bool is_mig = false;  // cut by hardware; shares are bound to geometries
    friend bool operator==(const RegisteredDevice&, const RegisteredDevice&) = default;
};

// In the order written. The error says which device and which field.
[[nodiscard]] Result<std::vector<RegisteredDevice>> read_node_register(std::string_view text, RegisterForm form);

}  // namespace reprieve
