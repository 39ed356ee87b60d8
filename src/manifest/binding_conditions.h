// Binding conditions: what drivers must report of a claim's devices before a pod with it is bound.
//
// Two readers share this look: the decoder of claims (a pod with a claim that another run allocated), and the run that
// has just written an allocation and waits (claim_write.h).
#pragma once

#include <cstdint>
#include <string>

namespace reprieve {

enum class BindingState : std::uint8_t { kReady, kPending, kFailed };

template <class Device>
struct BindingLook {
    BindingState state = BindingState::kReady;
    const Device* device = nullptr;  // the first one in the way
    std::string condition;           // of it
};

// `devices`: with the names of their `binding_conditions` and `failure_conditions`. `is_true`: whether a condition of a
// device is reported true. A failure of any device comes before a wait for another.
template <class Devices, class IsTrue>
[[nodiscard]] auto look_at_binding(const Devices& devices, const IsTrue& is_true) {
    BindingLook<typename Devices::value_type> look;
    for (const auto& device : devices) {
        for (const std::string& type : device.failure_conditions) {
            if (!is_true(device, type)) continue;
            look = {BindingState::kFailed, &device, type};
            return look;
        }
        for (const std::string& type : device.binding_conditions) {
            if (look.state == BindingState::kReady && !is_true(device, type))
                look = {BindingState::kPending, &device, type};
        }
    }
    return look;
}

}  // namespace reprieve
