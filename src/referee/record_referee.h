// The referee over a record: Reprieve's own decisions, each in the very cycle that made it, and what other schedulers
// did meanwhile, as far as pods tell.
#pragma once

#include "record/reader.h"
#include "referee/referee.h"

namespace reprieve {

// `config`: none: each cycle's own.
[[nodiscard]] Result<RefereeReport> judge_record(RecordReader& reader, const RefereeOptions& options, bool own_config);

}  // namespace reprieve
