// Retention: which files of a record are there, and which of them have to go.
//
// A record is a folder of files, one for each day and more where a day is large; each opens with a keyframe, so that
// the oldest can be deleted without touching the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace reprieve {

struct RecordPath {
    std::string path;
    std::string day;  // "2026-11-16"
    int part = 1;
    std::int64_t bytes = 0;  // with what SQLite keeps beside it
};

// By day and part. A folder without any, or none at all, gives none.
[[nodiscard]] std::vector<RecordPath> record_files(const std::string& folder);

struct KeepRules {
    Duration age;            // 0: for ever
    std::int64_t bytes = 0;  // 0: no limit
};

// Deletes what is too old or too much, oldest first, never `current`. Returns what was deleted.
std::vector<std::string> delete_old_files(const std::string& folder,
                                          const std::string& current,
                                          KeepRules rules,
                                          Time now);

// "20GiB", "500Mi", "1000000".
[[nodiscard]] Result<std::int64_t> parse_bytes(const std::string& text);
// "7d", "36h", or any Go duration.
[[nodiscard]] Result<Duration> parse_days(const std::string& text);

}  // namespace reprieve
