// Cursor: a value in a JSON document that knows the path that led to it.
//
// Decoders walk a document once, front to back:
//
//     for (Fields f(at); f.next();) {
//         switch (f.id()) {
//             case "key"_key: f->read(taint.key); break;
//             case "effect"_key: f->choose(taint.effect, kEffects); break;
//             default: break;  // unknown fields are skipped unread
//         }
//     }
//
// The first error sticks: it is kept with its path in the Reading, every later read does nothing and every loop ends,
// so that only the outermost caller asks whether all went well. JSON null means "not written" and leaves the target as
// it was. Texts point into the document, or into the Reading where they had escapes; both outlive the object.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/key.h"
#include "manifest/reading.h"
#include "model/labels.h"
#include "model/resources.h"

namespace reprieve {

class Cursor {
public:
    // The root of a document; `path` is what an error says before the first field (annotations that hold JSON).
    Cursor(Reading& reading, simdjson::ondemand::value& value, std::string_view path = {})
        : reading_(&reading),
          value_(&value),
          key_(path) {}

    [[nodiscard]] Reading& reading() const { return *reading_; }
    [[nodiscard]] Vocabulary& words() const { return reading_->words(); }
    [[nodiscard]] std::string_view key() const { return key_; }
    // Where the value starts.
    [[nodiscard]] const char* location() const { return value_->raw_json_token().data(); }
    [[nodiscard]] std::string path() const;

    [[nodiscard]] bool is_null();
    [[nodiscard]] bool is_string() const { return *location() == '"'; }
    [[nodiscard]] bool is_object() const { return *location() == '{'; }

    void read(std::string_view& out);
    void read(std::string& out);
    void read(StringId& out);  // "" counts as not written
    void read(StringId& out, bool& written);
    void read(bool& out);
    void read(std::int64_t& out);
    void read(std::int64_t& out, std::int64_t least, std::int64_t most);
    void read(std::int32_t& out, std::int32_t least = INT32_MIN, std::int32_t most = INT32_MAX);
    void read(std::optional<std::int32_t>& out);
    void read(std::optional<std::int64_t>& out);
    void read(Time& out);
    // A quantity that is not negative, in the unit of its dimension.
    void read_quantity(std::int64_t& out, QuantityUnit unit);
    // The text of a quantity, whatever it is worth.
    void read_quantity_text(std::string_view& out);
    void read(Resources& out);
    void read(std::optional<Resources>& out);
    void read(Labels& out);
    void read(std::vector<StringId>& out);

    // One of a few words.
    template <class T, std::size_t N>
    void choose(T& out, const std::pair<std::string_view, T> (&choices)[N]) {
        std::string_view text;
        bool written = false;
        read_text(text, written);
        if (!written) return;
        for (const auto& [word, value] : choices) {
            if (word == text) {
                out = value;
                return;
            }
        }
        std::string expected;
        for (const auto& choice : choices) {
            if (!choice.first.empty()) (expected += expected.empty() ? "" : ", ") += choice.first;
        }
        wrong_choice(text, expected);
    }
    template <class T, std::size_t N>
    void choose(std::optional<T>& out, const std::pair<std::string_view, T> (&choices)[N]) {
        if (is_null()) return;
        T value{};
        choose(value, choices);
        out = value;
    }

    // Says what is wrong with this value.
    void wrong(std::string what) const;
    // Says what is wrong with a field of this object, written or not.
    void wrong(std::string_view field, std::string what) const;

private:
    friend class Fields;
    friend class Items;

    Cursor(Reading& reading, const Cursor* parent) : reading_(&reading), parent_(parent) {}
    void read_text(std::string_view& out, bool& written);
    // The text of a number or of a string that holds one.
    [[nodiscard]] std::string_view scalar_token();
    void wrong_type(const char* expected) const;
    void wrong_choice(std::string_view text, const std::string& expected) const;
    void broken(simdjson::error_code code) const;

    Reading* reading_;
    simdjson::ondemand::value* value_ = nullptr;
    const Cursor* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
    bool in_list_ = false;
};

// The fields of an object, in the order written. A key written twice is an error.
class Fields {
public:
    explicit Fields(Cursor& object);
    // The next field; false at the end and after an error.
    bool next();
    // Starts again at the first field.
    void rewind();
    [[nodiscard]] KeyId id() const { return id_; }
    [[nodiscard]] std::string_view key() const { return field_.key_; }
    Cursor& operator*() { return field_; }
    Cursor* operator->() { return &field_; }

private:
    // What simdjson returns is built in place: copying it right after it was written stalls the processor.
    struct Slot {
        explicit Slot(simdjson::ondemand::object_iterator& at) : result(*at) {}
        simdjson::simdjson_result<simdjson::ondemand::field> result;
    };
    bool advance();
    bool first_time(KeyId id);

    Cursor* parent_;
    Cursor field_;
    std::optional<Slot> slot_;
    simdjson::ondemand::object object_;
    simdjson::ondemand::object_iterator at_;
    KeyId id_{};
    enum class Step : std::uint8_t { kFirst, kLater, kNone } step_ = Step::kNone;
    static constexpr std::size_t kInline = 32;
    std::uint64_t filter_ = 0;  // a bit per key seen, by its low bits: most keys need no search
    std::size_t seen_count_ = 0;
    KeyId seen_[kInline];
    std::vector<KeyId> seen_more_;
};

// The items of a list.
class Items {
public:
    explicit Items(Cursor& list);
    bool next();
    [[nodiscard]] std::size_t index() const { return item_.index_; }
    Cursor& operator*() { return item_; }
    Cursor* operator->() { return &item_; }

private:
    struct Slot {
        explicit Slot(simdjson::ondemand::array_iterator& at) : result(*at) {}
        simdjson::simdjson_result<simdjson::ondemand::value> result;
    };

    Cursor item_;
    std::optional<Slot> slot_;
    simdjson::ondemand::array array_;
    simdjson::ondemand::array_iterator at_;
    enum class Step : std::uint8_t { kFirst, kLater, kNone } step_ = Step::kNone;
};

}  // namespace reprieve
