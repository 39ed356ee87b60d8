// Registers of nodes and holds of pods are written by device plugins of others: no text breaks their readers, and what
// is read keeps the promises of the headers.
#include <set>
#include <string_view>

#include "base/check.h"
#include "manifest/node_register.h"
#include "manifest/vgpu_holds.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const RegisterForm form : {RegisterForm::kHami, RegisterForm::kVolcano}) {
        const auto devices = read_node_register(text, form);
        if (!devices) {
            REPRIEVE_CHECK(!devices.error().message.empty());
            continue;
        }
        std::set<std::int32_t> indexes;
        std::set<std::string_view> ids;
        for (const RegisteredDevice& device : *devices) {
            REPRIEVE_CHECK(indexes.insert(device.index).second && ids.insert(device.id).second);
            REPRIEVE_CHECK(device.memory_mebi >= 0 && device.split >= 0 && device.cores_percent >= 0);
        }
    }
    if (const auto holds = read_vgpu_holds(text)) {
        for (const VgpuHold& hold : *holds)
            REPRIEVE_CHECK(!hold.id.empty() && hold.memory_mebi >= 0 && hold.cores_percent >= 0);
    }
    return 0;
}
