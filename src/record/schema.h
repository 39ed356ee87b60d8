// Schema: the tables and views of one file of a record.
//
// People may rely on the views (docs/record.md); tables are ours and may change with the format's number. A file of an
// older format is read (columns that it lacks are as if empty), a newer one refused. Times in tables are microseconds
// since the epoch, in views RFC 3339 texts.
//
// Facts are numbered in the order in which the loop took them in. A cycle names the last fact that it saw; a keyframe
// the last fact that it contains. Both numberings go on from file to file.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "record/sqlite.h"

namespace reprieve {

inline constexpr std::int64_t kRecordFormat = 2;
inline constexpr std::int64_t kRecordDayUs = std::int64_t{24} * 3600 * 1'000'000;

// Makes tables and views in an empty file.
[[nodiscard]] Result<void> make_schema(Database& db, const std::string& version);

// What is said of a file in which nothing is.
[[nodiscard]] std::string nothing_left_sentence(const std::string& file);

// Whether this is a file of a record that can be read; the error is a sentence.
[[nodiscard]] Result<void> check_schema(Database& db);

// "record-2026-11-16.db"; later parts of a day are numbered from 2: "record-2026-11-16.2.db".
[[nodiscard]] std::string record_file_name(Time at, int part);
// Whole days since the epoch, in UTC.
[[nodiscard]] std::int64_t day_of(Time at);

}  // namespace reprieve
