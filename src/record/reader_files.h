// The parts of RecordReader: one open file, and the lines of its blocks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "record/reader.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace reprieve {

struct RecordReader::File {
    RecordPath path;
    Database db;
    std::size_t index = 0;
    std::int64_t first_seq = 0;  // of its first keyframe
    std::int64_t last_seq = 0;
    Time from;
    Time to;
    struct Run {
        std::string version;
        std::int64_t config = 0;
    };
    std::map<std::int64_t, Run> runs;

    bool suspect = false;          // something was wrong with it when it was opened
    bool walked = false;           // what is lost of its facts is known by its times
    std::int64_t lost_cycle = -1;  // the last of which plan or configuration cannot be read
    Time lost_at;
    std::optional<bool> older;           // written in a format before this one; not set: nobody has asked
    std::optional<bool> blocks_indexed;  // not set: nobody has asked
    std::optional<bool> plans_indexed;

    [[nodiscard]] Result<void> look();
    [[nodiscard]] Result<void> look_at_runs();
    void look_at_the_rest();
    void cover(const char* sql);
    [[nodiscard]] bool has_cycles();
    // The column, or nothing where files of this format do not have it yet.
    [[nodiscard]] const char* if_there(const char* column);
    // "block", to be read without its index where that is damaged: it costs time, and nothing is lost.
    [[nodiscard]] const char* blocks();
    [[nodiscard]] const char* plan_blocks();
    // Of a row selected by kCycleColumns.
    [[nodiscard]] RecordedCycle cycle_of(const Statement& row) const;
};

// What goes wrong in one file is told, and the others are asked all the same.
template <class Use>
void RecordReader::each_file(Use&& use) {
    for (const auto& file : files_) {
        if (Result<void> used = use(*file); !used) lose(*file, used.error().message, file->from, file->to);
    }
}

// Of cycles whose run cannot be read.
inline constexpr std::int64_t kNoConfig = -1;

inline constexpr const char* kCycleColumns =
    "SELECT id, at, seq, run, plan, plan_id, inputs, decided, acted, sound, planning, whole, changes FROM cycle ";

inline constexpr std::int64_t kLastMoment = INT64_MAX;

// The names of pods that a person means: with the namespace, or that name in any namespace.
[[nodiscard]] Result<std::vector<std::string>> full_names(Database& db,
                                                          const char* table,
                                                          const char* column,
                                                          const std::string& name);

// A line of a block; nothing where it is not one.
[[nodiscard]] std::optional<RecordedChange> parse_line(std::string_view line, std::string& unescaped);

}  // namespace reprieve
