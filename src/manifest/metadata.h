// Metadata: what every object carries, with labels and annotations as notes that are read only where they matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/cursor.h"
#include "manifest/key.h"
#include "model/objects.h"

namespace reprieve {

// One label or annotation. Reading a malformed value is an error that names the key.
class Note {
public:
    Note(std::string_view key, const char* raw, bool label) : key_(key), id_(key_id(key)), raw_(raw), label_(label) {}

    // The same of a template: `where` is told before the path ("spec.template.") and lives as long as the program.
    [[nodiscard]] Note inside(std::string_view where) const {
        Note out = *this;
        out.where_ = where;
        return out;
    }

    [[nodiscard]] KeyId id() const { return id_; }
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] bool is_label() const { return label_; }
    [[nodiscard]] std::string path() const;
    [[nodiscard]] const char* location() const { return raw_; }

    [[nodiscard]] std::string_view text(Reading& reading) const;
    // "true" or "false", nothing else.
    void read(Reading& reading, bool& out) const;
    void read(Reading& reading, std::optional<bool>& out) const;
    // A flag of another dialect. Whatever is neither true nor false counts as `protective`, and is warned about.
    [[nodiscard]] bool flag_or(Reading& reading, bool protective) const;
    void read(Reading& reading, std::int64_t& out, std::int64_t least, std::int64_t most) const;
    void read(Reading& reading, std::int32_t& out, std::int32_t least = INT32_MIN) const;
    void read(Reading& reading, Time& out) const;
    // A Go duration that is not negative.
    void read(Reading& reading, std::optional<Duration>& out) const;
    // "" counts as not written.
    void read(Reading& reading, StringId& out) const;
    // A JSON resource list.
    void read(Reading& reading, std::optional<Resources>& out) const;
    // A JSON value, handed to `visit(Cursor&)`.
    template <class Visit>
    void read_json(Reading& reading, Visit&& visit) const {
        const std::string_view json = text(reading);
        if (reading.failed()) return;
        simdjson::ondemand::value root;
        const std::string where = path();
        if (reading.open_inner(json, where, raw_, root)) {
            Cursor cursor(reading, root, where);
            visit(cursor);
        }
        reading.close_inner();
    }
    void wrong(Reading& reading, std::string what) const { reading.fail(path(), std::move(what), raw_); }

private:
    std::string_view key_;
    KeyId id_;
    std::string_view where_;
    const char* raw_;  // after the opening quote of the value
    bool label_;
};

// Reused from object to object.
struct Metadata {
    std::string_view name;
    std::string_view ns;
    std::string_view uid;
    Time created;
    Time deleting;
    std::optional<std::int64_t> deletion_grace_seconds;
    OwnerRef owner;  // the controller; where none is marked, the first owner
    Labels labels;
    std::vector<Note> notes;  // labels and annotations, in the order written

    void clear();
};

void decode_metadata(Cursor& at, Metadata& out);

// What is wrong with a name as part of "ns/name"; empty: nothing.
[[nodiscard]] std::string_view fault_of_name(std::string_view name);

// The settings that may stand on pods, gangs, queues and classes. Each call looks at one note.
void read_setting(Reading& reading, const Note& note, Settings& out);
// All settings among the notes.
void read_settings(Reading& reading, const Metadata& metadata, Settings& out);

// reprieve.dev/plan
void read_plan_note(Reading& reading, const Note& note, std::optional<PlanNote>& out);

}  // namespace reprieve
