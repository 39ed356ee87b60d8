#include "model/device_dialect.h"

namespace reprieve {

std::string_view scheduler_of(DeviceDialect dialect) {
    switch (dialect) {
        case DeviceDialect::kPlain:
            break;
        case DeviceDialect::kVgpu:
        case DeviceDialect::kGpuShare:
            return "Volcano";
        case DeviceDialect::kHami:
            return "HAMi";
        case DeviceDialect::kKai:
            return "KAI";
    }
    return "Reprieve";
}

std::string_view registration_of(DeviceDialect dialect) {
    switch (dialect) {
        case DeviceDialect::kPlain:
            break;
        case DeviceDialect::kVgpu:
            return "annotation volcano.sh/node-vgpu-register";
        case DeviceDialect::kGpuShare:
            return "resources volcano.sh/gpu-number and volcano.sh/gpu-memory";
        case DeviceDialect::kHami:
            return "annotation hami.io/node-nvidia-register";
        case DeviceDialect::kKai:
            return "resource nvidia.com/gpu of whole devices";
    }
    return "annotation reprieve.dev/devices";
}

std::string_view hold_words_of(DeviceDialect dialect) {
    switch (dialect) {
        case DeviceDialect::kPlain:
            break;
        case DeviceDialect::kVgpu:
            return "annotation volcano.sh/vgpu-ids-new";
        case DeviceDialect::kGpuShare:
            return "annotation volcano.sh/gpu-index";
        case DeviceDialect::kHami:
            return "annotation hami.io/vgpu-devices-allocated";
        case DeviceDialect::kKai:
            return "label runai-gpu-group";
    }
    return "annotation reprieve.dev/devices";
}

}  // namespace reprieve
