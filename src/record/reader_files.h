// The parts of RecordReader: one open file, and the lines of its blocks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "record/reader.h"
#include "record/sqlite.h"

namespace reprieve {

struct RecordReader::File {
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

    [[nodiscard]] Result<void> look();
    void look_at_the_rest();
    // Of a row selected by kCycleColumns.
    [[nodiscard]] RecordedCycle cycle_of(const Statement& row) const;
};

// What goes wrong in one file is told, and the others are asked all the same.
template <class Use>
void RecordReader::each_file(Use&& use) {
    for (const auto& file : files_) {
        if (Result<void> used = use(*file); !used) trouble(used.error().message);
    }
}

inline constexpr const char* kCycleColumns =
    "SELECT id, at, seq, run, plan, plan_id, inputs, decided, acted, sound, planning, whole, changes FROM cycle ";

// A line of a block; nothing where it is not one.
[[nodiscard]] std::optional<RecordedChange> parse_line(std::string_view line, std::string& unescaped);

// Brings a world up to the change.
void apply_change(const RecordedChange& change, RecordedWorld& world);

}  // namespace reprieve
