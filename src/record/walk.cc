// RecordReader::walk: keyframes, changes and cycles in the order in which they happened.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>

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

Result<std::vector<Keyframe>> keyframes_by(Database& db, const char* sql) {
    std::vector<Keyframe> out;
    auto rows = db.prepare(sql);
    if (!rows) return std::unexpected(rows.error());
    while (true) {
        const auto row = rows->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return out;
        out.push_back({.seq = rows->number(0), .at = {rows->number(1)}, .fresh = rows->number(2) != 0});
    }
}

// Where their list is damaged, their parts say where they stand; whether they are connected is then not known.
Result<std::vector<Keyframe>> keyframes_of(Database& db) {
    auto listed = keyframes_by(db, "SELECT seq, at, fresh FROM keyframe ORDER BY seq");
    if (listed) return listed;
    return keyframes_by(db, "SELECT first, min(at), 1 FROM block WHERE kind = 1 GROUP BY first ORDER BY first");
}

}  // namespace

// What goes wrong with the visitor ends the walk. What goes wrong with a file ends what is told of it until its next
// keyframe: a world that lacks a change is another one.
class RecordReader::Walk {
public:
    Walk(RecordReader& reader, const RecordVisitor& visitor) : reader_(reader), visitor_(visitor) {}

    Result<void> run(Time from) {
        const std::int64_t start = start_of(from);
        for (std::size_t i = 0; i < reader_.files_.size() && !over_; ++i) {
            File& file = *reader_.files_[i];
            const bool is_last = i + 1 == reader_.files_.size();
            if (auto told = tell_file(file, start, is_last ? file.to : reader_.files_[i + 1]->from); !told) return told;
        }
        return {};
    }

private:
    // The last keyframe at or before `from`.
    std::int64_t start_of(Time from) {
        std::int64_t start = 0;
        for (const auto& file : reader_.files_) {
            const auto keyframes = keyframes_of(file->db);
            if (!keyframes) continue;
            for (const Keyframe& one : *keyframes) {
                if (one.at <= from || start == 0) start = one.seq;
            }
        }
        return start;
    }

    Result<void> tell_file(File& file, std::int64_t start, Time next_file) {
        file.walked = true;
        const auto keyframes = keyframes_of(file.db);
        if (!keyframes || keyframes->empty()) {
            lose(file, keyframes ? damage_sentence(file.db.file()) : keyframes.error().message, file.from, next_file);
            return {};
        }
        for (std::size_t i = 0; i < keyframes->size() && !over_; ++i) {
            const Keyframe& key = (*keyframes)[i];
            const bool is_last = i + 1 == keyframes->size();
            if (key.seq < start) continue;
            const bool connected = i > 0 || key.seq == before_ + 1;
            before_ = file.last_seq;
            if (auto told = tell_from(file,
                                      key,
                                      is_last ? kEndOfFile : (*keyframes)[i + 1].seq,
                                      connected,
                                      is_last ? next_file : (*keyframes)[i + 1].at);
                !told)
                return told;
        }
        return {};
    }

    // From one keyframe to the next, which has the number `end` and the time `until`.
    Result<void> tell_from(File& file, const Keyframe& key, std::int64_t end, bool connected, Time until) {
        RecordedWorld world;
        known_to_ = key.at;
        if (auto read = reader_.read_block(file, 1, key.seq, world); !read) {
            lose(file, read.error().message, key.at, until);
            return {};
        }
        const bool fresh = key.fresh || !connected || torn_;
        torn_ = false;
        pods_.clear();
        for (const auto& [name, object] : world)
            note(name, false);
        if (auto told = visitor_.keyframe(world, key.at, fresh); !told) return told;
        seq_ = key.seq + 1;
        std::string lost;
        if (auto told = tell_changes(file, key.seq, end, lost); !told) return told;
        if (!lost.empty() && !over_) lose(file, lost, known_to_, std::max(known_to_, until));
        return {};
    }

    // `lost`: why it ends early.
    Result<void> tell_changes(File& file, std::int64_t first, std::int64_t end, std::string& lost) {
        auto cycles = file.db.prepare(std::string(kCycleColumns) + "WHERE seq >= ? AND seq < ? ORDER BY id");
        auto rows = file.db.prepare(
            fmt::format("SELECT first, raw, body FROM {} WHERE kind = 0 AND first > ? AND first < ? ORDER BY first",
                        file.blocks()));
        if (!cycles || !rows) {
            lost = (cycles ? rows.error() : cycles.error()).message;
            return {};
        }
        cycles->bind(first).bind(end);
        rows->bind(first).bind(end);
        advance(file, *cycles, lost);
        while (!over_ && lost.empty()) {
            const auto row = rows->step();
            if (!row) lost = row.error().message;
            if (!row || !*row) break;
            const auto text = unpack_block(rows->blob(2), static_cast<std::size_t>(rows->number(1)));
            if (!text) lost = damage_sentence(file.db.file());
            if (!text) break;
            seq_ = rows->number(0);
            Result<void> fine;
            each_line(*text, [&](std::string_view line) {
                if (!fine || over_ || !lost.empty()) return;
                fine = tell_cycles(file, *cycles, seq_, lost);
                if (!fine || over_ || !lost.empty()) return;
                const auto change = parse_line(line, unescaped_);
                // A belief about a pod that is not there was written by another process, or what it is about is lost.
                if (!change || (change->believed && !pods_.contains(change->key))) {
                    lost = damage_sentence(file.db.file());
                    return;
                }
                if (!change->believed) note(change->key, change->json.empty());
                ++seq_;
                known_to_ = std::max(known_to_, change->at);
                fine = visitor_.change(*change);
            });
            if (!fine) return fine;
        }
        // Cycles that saw nothing of what is lost are as they were.
        std::string none;
        return tell_cycles(file, *cycles, lost.empty() ? end : seq_, lost.empty() ? lost : none);
    }

    void note(std::string_view key, bool gone) {
        if (!key.starts_with("Pod ")) return;
        if (!gone)
            pods_.emplace(key);
        else if (const auto known = pods_.find(key); known != pods_.end())
            pods_.erase(known);
    }

    void advance(const File& file, Statement& cycles, std::string& lost) {
        next_.reset();
        const auto row = cycles.step();
        if (!row)
            lost = row.error().message;
        else if (*row)
            next_ = file.cycle_of(cycles);
    }

    // Cycles that saw nothing at or after `seq`.
    Result<void> tell_cycles(const File& file, Statement& cycles, std::int64_t seq, std::string& lost) {
        while (next_ && next_->seq < seq && !over_) {
            const auto go_on = visitor_.cycle(*next_);
            if (!go_on) return std::unexpected(go_on.error());
            known_to_ = std::max(known_to_, next_->at);
            over_ = !*go_on;
            advance(file, cycles, lost);
        }
        return {};
    }

    void lose(const File& file, const std::string& sentence, Time from, Time to) {
        torn_ = true;
        reader_.lose(file, sentence, from, to);
    }

    RecordReader& reader_;
    const RecordVisitor& visitor_;
    std::int64_t before_ = -1;  // the last number of the file before
    std::int64_t seq_ = 0;      // of the next change
    std::optional<RecordedCycle> next_;
    std::string unescaped_;
    std::set<std::string, std::less<>> pods_;  // that are there
    Time known_to_;
    bool torn_ = true;  // what was told before is not connected with what comes
    bool over_ = false;
};

Result<void> RecordReader::walk(Time from, const RecordVisitor& visitor) { return Walk(*this, visitor).run(from); }

}  // namespace reprieve
