// DeviceDialect: in whose words devices are shared. Each has its own way to register a node's devices and its own words
// on a running pod; behind them is one model: a device with memory, compute and a number of sharers.
//
// A share that is asked for in a dialect is found only on nodes that are registered in it: amounts over all devices of
// a node say nothing about any one of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprieve {

enum class DeviceDialect : std::uint8_t {
    kPlain,     // whole devices, reprieve.dev, koordinator.sh: needs no registration
    kVgpu,      // volcano.sh/vgpu-*
    kGpuShare,  // volcano.sh/gpu-memory, volcano.sh/gpu-number
    kHami,      // nvidia.com/gpumem and the like
    kKai,       // annotations gpu-fraction, gpu-memory
};

// Whose scheduler hands such shares to the device plugin: "HAMi".
[[nodiscard]] std::string_view scheduler_of(DeviceDialect dialect);
// What makes a node one of the dialect, for reasons: "annotation hami.io/node-nvidia-register".
[[nodiscard]] std::string_view registration_of(DeviceDialect dialect);
// What says on a running pod which devices it holds: "annotation reprieve.dev/devices".
[[nodiscard]] std::string_view hold_words_of(DeviceDialect dialect);

// The dialects that a node is registered in; the plain one always.
class DialectSet {
public:
    void add(DeviceDialect dialect) { bits_ |= bit(dialect); }
    // Devices that the user described by hand serve everybody.
    void add_all() { bits_ = 0xff; }
    [[nodiscard]] bool has(DeviceDialect dialect) const {
        return dialect == DeviceDialect::kPlain || (bits_ & bit(dialect)) != 0;
    }
    friend bool operator==(DialectSet, DialectSet) = default;

private:
    static std::uint8_t bit(DeviceDialect dialect) {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(dialect));
    }
    std::uint8_t bits_ = 0;
};

}  // namespace reprieve
