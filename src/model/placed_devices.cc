#include "model/placed_devices.h"

#include <algorithm>
#include <charconv>

#include "base/quantity.h"

namespace reprieve {

std::vector<DeviceHold> placed_devices(const std::vector<std::string>& texts) {
    std::vector<DeviceHold> out;
    for (const std::string& text : texts) {
        DeviceHold hold;
        const std::size_t colon = text.find(':');
        std::from_chars(text.data(), text.data() + std::min(colon, text.size()), hold.index);
        if (colon != std::string::npos) {
            const std::string share = text.substr(colon + 1);
            if (share.ends_with('m'))
                std::from_chars(share.data(), share.data() + share.size(), hold.milli);
            else if (const auto bytes = parse_quantity(share, QuantityUnit::kWhole))
                hold.memory = *bytes;
        }
        out.push_back(hold);
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace reprieve
