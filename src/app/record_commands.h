// `reprieve history`, `replay` and `export`: what a record answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/planning.h"
#include "record/reader.h"

namespace reprieve {

struct HistoryOptions {
    std::string record;
    std::string name;   // a pod, gang or queue; empty: everybody
    std::string since;  // before the end of the record; empty: from its start
    std::string action;
    std::string output = "table";
};

struct ReplayCommandOptions {
    std::string record;
    std::string from;
    std::string to;
    std::string config_file;
    std::string output = "table";
};

struct ExportOptions {
    std::string record;
    std::string format;
    std::string at;
    std::int64_t cycle = 0;
    std::string from;
    std::string to;
    std::string out;  // empty: standard output
};

[[nodiscard]] int history_command(const HistoryOptions& options);
// Exit code 0: identical, 3: different.
[[nodiscard]] int replay_command(const ReplayCommandOptions& options);
[[nodiscard]] int export_command(const ExportOptions& options);

// Opens a record; what cannot be read of it is told on standard error, when it is found.
[[nodiscard]] std::expected<std::unique_ptr<RecordReader>, Stop> open_record(const std::string& path);
// The cycle that is meant by --at and --cycle; neither: the last.
[[nodiscard]] std::expected<RecordedCycle, Stop> find_cycle(RecordReader& reader,
                                                            const std::string& at,
                                                            std::int64_t cycle);
// Says on stderr what is not known between that cycle and the moment `at` that was asked for; empty: no moment was.
void tell_gaps_between(RecordReader& reader, Time cycle, const std::string& at);

}  // namespace reprieve
