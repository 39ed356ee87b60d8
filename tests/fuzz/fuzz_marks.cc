// Events, conditions and Workloads are written by anybody: no text breaks those who look for evictions in them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "referee/marks.h"
#include "referee/referee.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprieve;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto mark = mark_of_pod(text)) REPRIEVE_CHECK(!mark->victim.empty());
    static_cast<void>(mark_of_event(text));
    if (const auto mark = mark_of_workload(text)) REPRIEVE_CHECK(!mark->workload.empty());
    Referee referee(RefereeOptions{});
    constexpr Time kNow{1'772'442'000'000'000};
    for (const char* key : {"Event.events.k8s.io ns/e", "Workload.kueue.x-k8s.io ns/w", "Pod ns/p", "PodGroup ns/g"})
        static_cast<void>(referee.see(kNow, key, text));
    referee.finish(kNow + Duration{3'600'000'000});
    static_cast<void>(referee_to_json(referee.report()));
    return 0;
}
