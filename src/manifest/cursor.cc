#include "manifest/cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest/json_syntax.h"

namespace reprieve {
namespace {

namespace od = simdjson::ondemand;

const char* kind_of_value(char first) {
    switch (first) {
        case '{':
            return "an object";
        case '[':
            return "a list";
        case '"':
            return "a string";
        case 't':
        case 'f':
            return "a boolean";
        default:
            return "a number";
    }
}

}  // namespace

std::string Cursor::path() const {
    std::string path = parent_ != nullptr ? parent_->path() : std::string();
    if (in_list_) return path + fmt::format("[{}]", index_);
    if (parent_ == nullptr) return std::string(key_);
    // Keys with dots would read like several fields.
    if (key_.find('.') != std::string_view::npos) return path + fmt::format("[{}]", key_);
    if (!path.empty()) path += '.';
    return path.append(key_);
}

void Cursor::wrong(std::string what) const { reading_->fail(path(), std::move(what), location()); }

void Cursor::wrong(std::string_view field, std::string what) const {
    const std::string base = path();
    reading_->fail(base.empty() ? std::string(field) : fmt::format("{}.{}", base, field), std::move(what), location());
}

void Cursor::wrong_type(const char* expected) const {
    wrong(fmt::format("must be {}, not {}", expected, kind_of_value(*location())));
}

void Cursor::wrong_choice(std::string_view text, const std::string& expected) const {
    wrong(fmt::format("\"{}\" is not one of: {}", text, expected));
}

void Cursor::broken(simdjson::error_code code) const {
    reading_->fail(path(), fmt::format("not valid JSON: {}", simdjson::error_message(code)), location(), true);
}

bool Cursor::is_null() {
    if (reading_->failed()) return true;
    bool null = false;
    if (*location() != 'n') return false;
    if (const auto code = value_->is_null().get(null); code != simdjson::SUCCESS || !null) {
        broken(simdjson::N_ATOM_ERROR);
        return true;
    }
    return true;
}

void Cursor::read_text(std::string_view& out, bool& written) {
    if (is_null()) return;
    od::raw_json_string raw;
    if (value_->get_raw_json_string().get(raw) != simdjson::SUCCESS) return wrong_type("a string");
    if (!reading_->text(raw.raw(), out)) {
        out = {};
        return wrong("has a bad escape sequence");
    }
    written = true;
}

void Cursor::read(std::string_view& out) {
    bool written = false;
    read_text(out, written);
}

void Cursor::read(std::string& out) {
    std::string_view text;
    bool written = false;
    read_text(text, written);
    if (written) out = text;
}

void Cursor::read(StringId& out) {
    bool written = false;
    read(out, written);
}

void Cursor::read(StringId& out, bool& written) {
    std::string_view text;
    read_text(text, written);
    if (written) out = text.empty() ? StringId() : words().string(text);
}

void Cursor::read(bool& out) {
    if (is_null()) return;
    bool value = false;
    if (value_->get_bool().get(value) != simdjson::SUCCESS) return wrong_type("true or false");
    out = value;
}

void Cursor::read(std::int64_t& out) { read(out, INT64_MIN, INT64_MAX); }

void Cursor::read(std::int64_t& out, std::int64_t least, std::int64_t most) {
    if (is_null()) return;
    std::int64_t value = 0;
    const auto code = value_->get_int64().get(value);
    if (code != simdjson::SUCCESS) {
        const char first = *location();
        if (first != '-' && (first < '0' || first > '9')) return wrong_type("a whole number");
        return wrong(fmt::format("\"{}\" is not a whole number of 64 bits", scalar_token()));
    }
    if (value < least) return wrong(fmt::format("{} is less than {}", value, least));
    if (value > most) return wrong(fmt::format("{} is more than {}", value, most));
    out = value;
}

void Cursor::read(std::int32_t& out, std::int32_t least, std::int32_t most) {
    std::int64_t value = out;
    read(value, least, most);
    if (!reading_->failed()) out = static_cast<std::int32_t>(value);
}

void Cursor::read(std::optional<std::int32_t>& out) {
    if (is_null()) return;
    std::int32_t value = 0;
    read(value);
    out = value;
}

void Cursor::read(std::optional<std::int64_t>& out) {
    if (is_null()) return;
    std::int64_t value = 0;
    read(value);
    out = value;
}

void Cursor::read(Time& out) {
    std::string_view text;
    bool written = false;
    read_text(text, written);
    if (!written) return;
    const Result<Time> time = parse_time(text);
    if (!time) return wrong(time.error().message);
    out = *time;
}

std::string_view Cursor::scalar_token() {
    std::string_view token = value_->raw_json_token();
    while (!token.empty() && is_json_space(token.back()))
        token.remove_suffix(1);
    return token;
}

void Cursor::read_quantity_text(std::string_view& out) {
    if (is_null()) return;
    if (is_string()) {
        bool written = false;
        read_text(out, written);
    } else if (const char first = *location(); first == '-' || (first >= '0' && first <= '9')) {
        out = scalar_token();
    } else {
        wrong_type("a quantity");
    }
}

void Cursor::read_quantity(std::int64_t& out, QuantityUnit unit) {
    if (is_null()) return;
    std::string_view text;
    read_quantity_text(text);
    if (reading_->failed()) return;
    const Result<std::int64_t> amount = parse_quantity(text, unit);
    if (!amount) return wrong(amount.error().message);
    if (*amount < 0) return wrong(fmt::format("\"{}\" is negative", text));
    out = *amount;
}

void Cursor::read(Resources& out) {
    out = {};
    for (Fields f(*this); f.next();) {
        if (f->is_null()) continue;
        if (f.key().empty()) return f->wrong("a resource needs a name");
        const Dim dim = words().dimension(f.key());
        std::int64_t amount = 0;
        f->read_quantity(amount, dim == kCpu ? QuantityUnit::kMilli : QuantityUnit::kWhole);
        out.set(dim, amount);
    }
}

void Cursor::read(std::optional<Resources>& out) {
    if (is_null()) return;
    read(out.emplace());
}

void Cursor::read(Labels& out) {
    for (Fields f(*this); f.next();) {
        std::string_view value;
        f->read(value);
        out.set(words().string(f.key()), words().string(value));
    }
}

void Cursor::read(std::vector<StringId>& out) {
    out.clear();
    for (Items item(*this); item.next();) {
        StringId id;
        item->read(id);
        if (id) out.push_back(id);
    }
}

Fields::Fields(Cursor& object) : parent_(&object), field_(*object.reading_, &object) {
    if (object.is_null()) return;
    const auto code = object.value_->get_object().get(object_);
    if (code == simdjson::SUCCESS) {
        step_ = Step::kFirst;
    } else if (code == simdjson::INCORRECT_TYPE) {
        object.wrong_type("an object");
    } else {
        object.broken(code);
    }
}

void Fields::rewind() {
    if (field_.reading_->failed()) return;
    const auto code = object_.reset().error();
    if (code != simdjson::SUCCESS) return parent_->broken(code);
    step_ = Step::kFirst;
    filter_ = 0;
    seen_count_ = 0;
    seen_more_.clear();
}

bool Fields::next() {
    while (advance()) {
        if (first_time(id_)) return true;
        field_.wrong("is written twice");
    }
    return false;
}

bool Fields::advance() {
    if (step_ == Step::kNone || field_.reading_->failed()) return false;
    if (step_ == Step::kFirst) {
        if (const auto code = object_.begin().get(at_); code != simdjson::SUCCESS) return parent_->broken(code), false;
        step_ = Step::kLater;
    } else {
        ++at_;
    }
    if (!(at_ != at_)) {
        step_ = Step::kNone;
        return false;
    }
    Slot& slot = slot_.emplace(at_);
    if (slot.result.error() != simdjson::SUCCESS) return parent_->broken(slot.result.error()), false;
    od::field& field = slot.result.value_unsafe();
    field_.value_ = &field.value();
    if (!field_.reading_->text(field.key().raw(), field_.key_)) return parent_->broken(simdjson::STRING_ERROR), false;
    id_ = key_id(field_.key_);
    return true;
}

bool Fields::first_time(KeyId id) {
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<std::uint64_t>(id) % 64);
    if ((filter_ & bit) != 0) {
        const auto end = seen_ + std::min(seen_count_, kInline);
        if (std::find(seen_, end, id) != end) return false;
        if (std::find(seen_more_.begin(), seen_more_.end(), id) != seen_more_.end()) return false;
    }
    filter_ |= bit;
    if (seen_count_ < kInline) {
        seen_[seen_count_] = id;
    } else {
        seen_more_.push_back(id);
    }
    ++seen_count_;
    return true;
}

Items::Items(Cursor& list) : item_(*list.reading_, &list) {
    item_.in_list_ = true;
    if (list.is_null()) return;
    const auto code = list.value_->get_array().get(array_);
    if (code == simdjson::SUCCESS) {
        step_ = Step::kFirst;
    } else if (code == simdjson::INCORRECT_TYPE) {
        list.wrong_type("a list");
    } else {
        list.broken(code);
    }
}

bool Items::next() {
    if (step_ == Step::kNone || item_.reading_->failed()) return false;
    if (step_ == Step::kFirst) {
        if (const auto code = array_.begin().get(at_); code != simdjson::SUCCESS)
            return item_.parent_->broken(code), false;
        step_ = Step::kLater;
    } else {
        ++at_;
        ++item_.index_;
    }
    if (!(at_ != at_)) {
        step_ = Step::kNone;
        return false;
    }
    Slot& slot = slot_.emplace(at_);
    if (slot.result.error() != simdjson::SUCCESS) return item_.parent_->broken(slot.result.error()), false;
    item_.value_ = &slot.result.value_unsafe();
    return true;
}

}  // namespace reprieve
