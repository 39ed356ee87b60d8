// FactLog: the facts of a record on their way to disk: a mirror of what is there now, and the block being filled.
//
// The mirror is what a keyframe is written from. It is kept up to date whether or not there is a disk to write to, so
// that recording can resume after a gap. An object that is told again without a change that matters is not written.
//
// Lines of a block:
//     {"at":1763312345000000,"key":"Pod team/a","is":{...}}         as it is now; null: gone
//     {"at":1763312345000000,"key":"Pod team/a","believed":{...}}   what the loop takes for true beside it; null:
//     nothing
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/time.h"
#include "record/items.h"
#include "record/projection.h"
#include "record/record_file.h"

namespace reprieve {

class FactLog {
public:
    // Takes in a fact; true: it is new, and now part of the block.
    bool take(const FactItem& item);
    bool take(const BeliefItem& item);

    [[nodiscard]] std::int64_t seq() const { return seq_; }
    void go_on_from(std::int64_t seq) { seq_ = seq; }
    [[nodiscard]] std::size_t objects() const { return mirror_.size(); }

    [[nodiscard]] bool full() const;
    // Writes what has come since the last call, so that it survives; a full block replaces its parts.
    void flush(RecordFile& file);
    // Forgets the block: it was written, or is lost.
    void drop_block();
    // Everything that is there now, under a number of its own. `fresh`: nothing is known of what was before.
    void write_keyframe(RecordFile& file, Time at, bool fresh);

    // While there is no file, changes are taken in without being written.
    void set_writing(bool writing) { writing_ = writing; }

private:
    struct Mirrored {
        std::string json;
        std::string overlay;
    };
    void line(Time at, const std::string& key, const char* field, const std::string& json);
    void write_block(RecordFile& file, std::string_view text, std::int64_t first);

    Projection projection_;
    std::unordered_map<std::string, Mirrored> mirror_;
    std::string projected_;
    bool writing_ = false;
    std::int64_t seq_ = 0;
    // The block being filled: facts block_first_..seq_, of which those up to flushed_ are on disk in parts.
    std::string block_;
    std::int64_t block_first_ = 0;
    Time block_at_;
    std::int64_t flushed_ = 0;
    std::size_t flushed_bytes_ = 0;
};

}  // namespace reprieve
