// RecordReader::walk: keyframes, changes and cycles in the order in which they happened.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "record/blocks.h"
#include "record/reader_files.h"

namespace reprieve {
namespace {

constexpr std::int64_t kEndOfFile = std::numeric_limits<std::int64_t>::max();

struct Keyframe {
    std::int64_t seq = 0;
    Time at;
    bool fresh = false;
};

Result<std::vector<Keyframe>> keyframes_of(Database& db) {
    std::vector<Keyframe> out;
    auto rows = db.prepare("SELECT seq, at, fresh FROM keyframe ORDER BY seq");
    if (!rows) return std::unexpected(rows.error());
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return out;
        out.push_back({.seq = rows->number(0), .at = {rows->number(1)}, .fresh = rows->number(2) != 0});
    }
}

}  // namespace

Result<void> RecordReader::walk(Time from, const RecordVisitor& visitor) {
    std::int64_t before = -1;  // the last number of the file before
    bool over = false;
    // The last keyframe at or before `from`.
    std::int64_t start = 0;
    for (const auto& file : files_) {
        const auto keyframes = keyframes_of(file->db);
        if (!keyframes) continue;
        for (const Keyframe& one : *keyframes) {
            if (one.at <= from || start == 0) start = one.seq;
        }
    }
    for (const auto& at : files_) {
        File& file = *at;
        if (over) break;
        const auto keyframes = keyframes_of(file.db);
        if (!keyframes) return std::unexpected(keyframes.error());
        for (std::size_t i = 0; i < keyframes->size() && !over; ++i) {
            const Keyframe& key = (*keyframes)[i];
            const std::int64_t end = i + 1 < keyframes->size() ? (*keyframes)[i + 1].seq : kEndOfFile;
            if (key.seq < start) continue;
            RecordedWorld world;
            if (auto read = read_block(file, 1, key.seq, world); !read) return read;
            const bool fresh = key.fresh || before < 0 || (i == 0 && key.seq != before + 1);
            if (auto told = visitor.keyframe(world, key.at, fresh); !told) return told;
            before = file.last_seq;

            auto cycles = file.db.prepare(std::string(kCycleColumns) + "WHERE seq >= ? AND seq < ? ORDER BY id");
            if (!cycles) return std::unexpected(cycles.error());
            cycles->bind(key.seq).bind(end);
            std::optional<RecordedCycle> next;
            const auto advance = [&]() -> Result<void> {
                const auto row = cycles->step();
                if (!row) return std::unexpected(row.error());
                next.reset();
                if (*row) next = file.cycle_of(*cycles);
                return {};
            };
            // Cycles that saw nothing at or after `seq`.
            const auto tell_cycles = [&](std::int64_t seq) -> Result<void> {
                while (next && next->seq < seq && !over) {
                    const auto go_on = visitor.cycle(*next);
                    if (!go_on) return std::unexpected(go_on.error());
                    over = !*go_on;
                    if (auto done = advance(); !done) return done;
                }
                return {};
            };
            if (auto done = advance(); !done) return done;
            auto rows = file.db.prepare(
                "SELECT first, raw, body FROM block WHERE kind = 0 AND first > ? AND first < ? ORDER BY first");
            if (!rows) return std::unexpected(rows.error());
            rows->bind(key.seq).bind(end);
            std::string unescaped;
            while (!over) {
                const auto row = rows->step();
                if (!row) return std::unexpected(row.error());
                if (!*row) break;
                const auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
                if (!text) return fail(fmt::format("{}: {}", file.db.file(), text.error().message));
                std::int64_t seq = rows->number(0);
                Result<void> fine;
                each_line(*text, [&](std::string_view line) {
                    if (!fine || over) return;
                    fine = tell_cycles(seq++);
                    if (!fine || over) return;
                    const auto change = parse_line(line, unescaped);
                    if (!change) {
                        fine = fail(fmt::format("{}: fact {} cannot be read", file.db.file(), seq - 1));
                        return;
                    }
                    fine = visitor.change(*change);
                });
                if (!fine) return fine;
            }
            if (auto told = tell_cycles(end); !told) return told;
        }
    }
    return {};
}

}  // namespace reprieve
