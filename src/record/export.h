// The same world for other tools. Each gives the whole text; times that are not set mean the ends of the record.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "record/reader.h"

namespace reprieve {

// A List of the objects as the cycle believed them to be; `plan -f` reads it, and so does kubectl.
[[nodiscard]] Result<std::string> export_manifests(RecordReader& reader, const RecordedCycle& cycle);

// A KWOK recording: what was there at `from`, then what people and controllers did. Decisions are left out, so that
// another scheduler can take them: pods come without a node or status, and evictions by us are not repeated.
[[nodiscard]] Result<std::string> export_kwok(RecordReader& reader, Time from, Time to);

// A Perfetto trace (protobuf): a track for each pod below its node, a mark for each decision, and an arrow from it to
// the end of each victim.
[[nodiscard]] Result<std::string> export_perfetto(RecordReader& reader, Time from, Time to);

// The Standard Workload Format: a line for each pod, gangs joined. Processors are GPUs where a job asks for any, else
// whole CPUs.
[[nodiscard]] Result<std::string> export_swf(RecordReader& reader, Time from, Time to);

}  // namespace reprieve
