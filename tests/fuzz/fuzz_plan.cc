// Any bytes as a plan. What is read and written is read again as the same plan, and written as the same bytes.
#include "base/check.h"
#include "manifest/plan_json.h"

using namespace reprieve;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto plan = plan_from_json({reinterpret_cast<const char*>(data), size});
    if (!plan) {
        REPRIEVE_CHECK(!plan.error().message.empty());
        return 0;
    }
    const std::string written = plan_to_json(*plan);
    const auto again = plan_from_json(written);
    REPRIEVE_CHECK(again.has_value(), "{}", again.error().message);
    REPRIEVE_CHECK(plan_to_json(*again) == written);
    REPRIEVE_CHECK(!plan_to_yaml(*plan).empty());
    return 0;
}
