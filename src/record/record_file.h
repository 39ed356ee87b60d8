// RecordFile: one file of a record, while it is written.
//
// Rows are added inside one transaction that `commit` ends. The first error sticks: what follows does nothing, and
// `commit` tells it; the caller then closes the file, and what was not committed is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "record/sqlite.h"

namespace reprieve {

// Where the numberings of a record stand.
struct RecordCounters {
    std::int64_t seq = 0;
    std::int64_t cycle = 0;
    std::int64_t plan = 0;
    std::int64_t decision = 0;
};

class RecordFile {
public:
    // Opens or makes the file; one of an older format is opened for its numbers only. `most_pages`: SQLite refuses to
    // let it grow beyond so many, as a full disk would; 0: none.
    [[nodiscard]] static Result<std::unique_ptr<RecordFile>> open(const std::string& path,
                                                                  const std::string& version,
                                                                  std::int64_t most_pages);

    [[nodiscard]] const std::string& path() const { return path_; }
    // Whether rows can be added, because its tables are those of this program.
    [[nodiscard]] bool goes_on();
    // The highest numbers in this file, and the last moment that it knows of.
    [[nodiscard]] Result<RecordCounters> counters();
    [[nodiscard]] Result<Time> last_moment();
    [[nodiscard]] std::int64_t bytes();

    [[nodiscard]] Result<void> commit();
    [[nodiscard]] const std::string& fault() const { return fault_; }

    // The row of a text in `name`; 0 for an empty one.
    std::int64_t name(const std::string& text);
    // Runs a statement that is prepared once. Arguments: integers, texts, and Blob.
    struct Blob {
        std::string_view bytes;
    };
    struct OrNull {
        std::int64_t value;
    };
    // Where 0 is a value, too.
    struct Maybe {
        std::optional<std::int64_t> value;
    };
    template <class... Args>
    void put(const char* sql, const Args&... args) {
        Statement* statement = prepared(sql);
        if (!statement) return;
        (bind(*statement, args), ...);
        finish(*statement);
    }
    [[nodiscard]] std::int64_t last_row() const { return db_.last_row(); }

private:
    explicit RecordFile(Database db) : db_(std::move(db)), path_(db_.file()) {}
    [[nodiscard]] Statement* prepared(const char* sql);
    void finish(Statement& statement);
    void begin();

    static void bind(Statement& s, std::int64_t value) { s.bind(value); }
    static void bind(Statement& s, Time value) { s.bind_or_null(value.us); }
    static void bind(Statement& s, const std::string& text) { s.bind_or_null(std::string_view(text)); }
    static void bind(Statement& s, Blob blob) { s.bind_blob(blob.bytes); }
    static void bind(Statement& s, OrNull number) { s.bind_or_null(number.value); }
    static void bind(Statement& s, Maybe number) { number.value ? s.bind(*number.value) : s.bind_null(); }

    Database db_;
    std::string path_;
    std::string fault_;
    bool in_transaction_ = false;
    std::unordered_map<const char*, Statement> statements_;
    std::unordered_map<std::string, std::int64_t> names_;
};

}  // namespace reprieve
