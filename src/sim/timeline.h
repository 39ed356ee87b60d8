// Timeline: what happens to the embedded cluster from outside, and when:
//
//   kind: Timeline
//   events:
//     - at: 30s                     # a Go duration from the start
//       apply: {apiVersion: ...}    # a manifest, or a list of them; fields given replace those that are there
//     - at: 60s
//       delete: {apiVersion: v1, kind: Node, metadata: {name: gpu-1}}   # or a list
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/json_path.h"

namespace reprieve {

struct TimelineEvent {
    Duration at;
    std::vector<Json> apply;
    std::vector<Json> erase;
    std::string source;     // "file:line" of the document; set by whoever reads files
    std::size_t index = 0;  // in its document

    // "fleet.yaml:12: Timeline: events[2].apply".
    [[nodiscard]] std::string where(std::string_view field) const;
};

// The error names the field: "events[2].at: ...". In the order written.
[[nodiscard]] Result<std::vector<TimelineEvent>> read_timeline(std::string_view json);

}  // namespace reprieve
