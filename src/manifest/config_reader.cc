#include "manifest/config_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/utf8.h"
#include "manifest/suggest.h"

namespace reprieve {
namespace {

bool is_null(const YAML::Node& node) { return !node.IsDefined() || node.IsNull(); }

const char* kind_of(const YAML::Node& node) {
    if (node.IsMap()) return "a mapping";
    if (node.IsSequence()) return "a list";
    return is_null(node) ? "nothing" : "a single value";
}

int line_of(const YAML::Node& node, int otherwise) {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? otherwise : mark.line + 1;
}

std::string joined(const std::string& key, const std::string& name) { return key.empty() ? name : key + "." + name; }

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Fault {
    int line = 1;
    std::string_view what;
};

// yaml-cpp takes some control characters for the end of the text and replaces what is not UTF-8: neither may pass.
std::optional<Fault> find_bad_line(std::string_view text) {
    const auto is_control = [](char c) {
        return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    };
    const auto line_at = [&](std::string_view::iterator at) {
        return static_cast<int>(std::count(text.begin(), at, '\n')) + 1;
    };
    const auto* control = std::find_if(text.begin(), text.end(), is_control);
    if (control != text.end()) return Fault{line_at(control), "control character: this is no text"};
    const std::string valid = valid_utf8(text);
    const auto* differs = std::mismatch(text.begin(), text.end(), valid.begin(), valid.end()).first;
    if (differs != text.end()) return Fault{line_at(differs), "not UTF-8: this is no text"};
    return std::nullopt;
}

// Sees where a document begins and whether there is anything in it.
class DocumentProbe final : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        begins = mark;
        empty = true;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override { empty = false; }
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override { empty = false; }
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
        empty = false;
    }
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
        empty = false;
    }
    void OnMapEnd() override {}

    YAML::Mark begins;
    bool empty = true;
};

// At some stray characters the parser sees one empty document after the other without end (YAML::LoadAll never comes
// back), so each document has to begin after the one before it.
std::optional<Fault> find_more_than_one_document(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentProbe probe;
    for (int last = -1; parser.HandleNextDocument(probe); last = probe.begins.pos) {
        const int line = probe.begins.line + 1;
        if (probe.begins.pos <= last) return Fault{line, "not readable as YAML or JSON: nothing can begin here"};
        if (last >= 0 && !probe.empty) return Fault{line, "a configuration is one document, here a second one begins"};
    }
    return std::nullopt;
}

}  // namespace

std::string shown(std::string_view text) {
    constexpr std::size_t kLongest = 80;
    std::string quoted = "\"";
    for (const char c : text.substr(0, kLongest))
        quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return quoted + (text.size() > kLongest ? "...\"" : "\"");
}

ConfigField ConfigReader::parse(std::string_view text) {
    ConfigField root{.name = {}, .key = {}, .line = 1, .value = YAML::Node()};
    if (const auto fault = find_bad_line(text)) {
        root.line = fault->line;
        complain(root, fault->what);
        return root;
    }
    try {
        const std::string copy(text);
        if (const auto fault = find_more_than_one_document(copy)) {
            root.line = fault->line;
            complain(root, fault->what);
            return root;
        }
        root.value = YAML::Load(copy);
        root.line = line_of(root.value, 1);
    } catch (const YAML::Exception& wrong) {
        root.line = wrong.mark.is_null() ? 1 : wrong.mark.line + 1;
        complain(root, fmt::format("not readable as YAML or JSON: {}", wrong.msg));
    }
    return root;
}

void ConfigReader::complain(const ConfigField& at, std::string_view what) {
    if (error_) return;
    if (at.key.empty()) {
        error_ = Error{fmt::format("{}:{}: {}", file_, at.line, what)};
    } else {
        const std::string key = shown(at.key);
        error_ =
            Error{fmt::format("{}:{}: {}: {}", file_, at.line, std::string_view(key).substr(1, key.size() - 2), what)};
    }
}

void ConfigReader::complain_unknown(const ConfigField& at, std::span<const std::string_view> known) {
    complain(at, fmt::format("unknown key{}", suggestion(at.name, known)));
}

std::vector<ConfigField> ConfigReader::entries(const ConfigField& at) {
    std::vector<ConfigField> fields;
    if (is_null(at.value)) return fields;
    if (!at.value.IsMap()) {
        complain(at, fmt::format("must be a mapping, is {}", kind_of(at.value)));
        return fields;
    }
    for (const auto& entry : at.value) {
        ConfigField field{.name = {}, .key = at.key, .line = line_of(entry.first, at.line), .value = entry.second};
        if (!entry.first.IsScalar()) {
            complain(field, "a key must be plain text");
            break;
        }
        field.name = entry.first.Scalar();
        field.key = joined(at.key, field.name);
        const bool again = std::any_of(
            fields.begin(), fields.end(), [&](const ConfigField& other) { return other.name == field.name; });
        if (again) complain(field, "is written twice");
        fields.push_back(std::move(field));
    }
    return fields;
}

std::vector<ConfigField> ConfigReader::items(const ConfigField& at) {
    std::vector<ConfigField> fields;
    if (is_null(at.value)) return fields;
    if (!at.value.IsSequence()) {
        complain(at, fmt::format("must be a list, is {}", kind_of(at.value)));
        return fields;
    }
    for (const YAML::Node& item : at.value) {
        fields.push_back({.name = at.name,
                          .key = fmt::format("{}[{}]", at.key, fields.size()),
                          .line = line_of(item, at.line),
                          .value = item});
    }
    return fields;
}

std::string ConfigReader::text(const ConfigField& at) {
    if (!at.value.IsDefined() || !at.value.IsScalar()) {
        complain(at, fmt::format("must be a single value, is {}", kind_of(at.value)));
        return {};
    }
    return at.value.Scalar();
}

bool ConfigReader::boolean(const ConfigField& at) {
    const std::string word = text(at);
    if (word != "true" && word != "false") complain(at, fmt::format("must be true or false, is {}", shown(word)));
    return word == "true";
}

std::int64_t ConfigReader::integer(const ConfigField& at, std::int64_t smallest, std::int64_t largest) {
    const std::string digits = text(at);
    std::int64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool number = read.ptr == digits.data() + digits.size() && !digits.empty();
    if (number && read.ec == std::errc{} && value >= smallest && value <= largest) return value;
    complain(at, fmt::format("must be a whole number from {} to {}, is {}", smallest, largest, shown(digits)));
    return smallest;
}

std::int32_t ConfigReader::millionths(const ConfigField& at) {
    const std::string written = text(at);
    const std::string_view number = written;
    const std::size_t point = std::min(number.find('.'), number.size());
    const std::string_view whole = number.substr(0, point);
    std::string fraction(point < number.size() ? number.substr(point + 1) : std::string_view());
    if (whole.size() + fraction.size() == 0 || whole.size() > 9 || !all_digits(whole) || !all_digits(fraction)) {
        complain(at, fmt::format("must be a decimal from 0 to 1, is {}", shown(written)));
        return 0;
    }
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (fraction.size() > 6) {
        complain(at, fmt::format("has more than six decimals: {}", shown(written)));
        return 0;
    }
    fraction.resize(6, '0');
    std::int64_t ppm = 0;
    for (const char digit : std::string(whole) + fraction)
        ppm = ppm * 10 + (digit - '0');
    if (ppm > 1'000'000) complain(at, fmt::format("must be a decimal from 0 to 1, is {}", shown(written)));
    return static_cast<std::int32_t>(std::min<std::int64_t>(ppm, 1'000'000));
}

Duration ConfigReader::duration(const ConfigField& at) {
    const std::string written = text(at);
    const Result<Duration> read = parse_duration(written);
    if (!read) {
        complain(at, fmt::format("{} is not a duration (examples: 30m, 1h30m, 1.5s, 250ms)", shown(written)));
        return {};
    }
    if (read->us < 0) complain(at, fmt::format("must not be negative, is {}", shown(written)));
    return *read;
}

std::vector<std::string> ConfigReader::texts(const ConfigField& at) {
    std::vector<std::string> words;
    for (const ConfigField& item : items(at)) {
        std::string word = text(item);
        if (word.empty()) complain(item, "must not be empty");
        if (std::find(words.begin(), words.end(), word) != words.end())
            complain(item, fmt::format("{} is listed twice", shown(word)));
        words.push_back(std::move(word));
    }
    return words;
}

std::size_t ConfigReader::index_of(const ConfigField& at,
                                   std::string_view what,
                                   std::span<const std::string_view> known) {
    const std::string word = text(at);
    const auto found = std::find(known.begin(), known.end(), word);
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    complain(at, fmt::format("unknown {} {}{}", what, shown(word), suggestion(word, known)));
    return 0;
}

}  // namespace reprieve
