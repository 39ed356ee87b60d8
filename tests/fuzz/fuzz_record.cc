// Whatever stands in the blocks of a record, readers take it or refuse it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "record/blocks.h"
#include "record/ledger.h"
#include "record/reader_files.h"
#include "record/rebuild.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprieve;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // 1. As a compressed frame: refused unless it holds what it claims to.
    constexpr std::size_t kMost = 1U << 16U;
    if (const auto block = unpack_block(text, std::min(size * 4, kMost))) REPRIEVE_CHECK(block->size() <= kMost);
    REPRIEVE_CHECK(unpack_block(pack_block(text), size) == text);
    // 2. As the inputs of a cycle.
    const CycleInputs inputs = inputs_from_json(text);
    REPRIEVE_CHECK(inputs_from_json(inputs_to_json(inputs)) == inputs);
    // 3. As lines: the world follows those that it understands, and nothing is left of those that it refuses.
    Rebuild rebuild{SchedulerConfig{}};
    std::string unescaped;
    each_line(text, [&](std::string_view line) {
        if (const auto change = parse_line(line, unescaped)) static_cast<void>(rebuild.apply(*change));
    });
    static_cast<void>(rebuild.cluster().refresh({1'772'442'000'000'000}));
    return 0;
}
