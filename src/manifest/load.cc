#include "manifest/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "manifest/load_json.h"
#include "manifest/text_window.h"
#include "manifest/yaml_json.h"

namespace reprieve {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLargestYaml = std::size_t{1} << 30U;

bool is_manifest(const fs::path& path) {
    const fs::path extension = path.extension();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// {"key": ... is JSON, whatever the file is called; {key: ... is YAML. Nothing: the text is too short to tell.
std::optional<bool> looks_like_json(std::string_view text) {
    constexpr std::string_view kSpaces = " \t\r\n";
    std::size_t at = text.find_first_not_of(kSpaces);
    if (at == std::string_view::npos) return std::nullopt;
    if (text[at] != '{') return false;
    at = text.find_first_not_of(kSpaces, at + 1);
    if (at == std::string_view::npos) return std::nullopt;
    return text[at] == '"' || text[at] == '}';
}

// Reads as much as it takes to know.
bool is_json(TextWindow& window) {
    std::optional<bool> json;
    do {
        json = looks_like_json(window.text());
    } while (!json && window.grow());
    return json.value_or(false);
}

// yaml-cpp takes some control characters for the end of the text and replaces what is not UTF-8: neither may pass.
std::optional<std::pair<std::size_t, std::string>> find_bad_character(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if ((c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7F) {
            return std::pair(i, fmt::format("control character 0x{:02x}: this is no text", c));
        }
    }
    if (simdjson::validate_utf8(text.data(), text.size())) return std::nullopt;
    std::size_t good = 0;
    std::size_t bad = text.size();
    while (good + 1 < bad) {
        const std::size_t middle = good + (bad - good) / 2;
        // A prefix may end inside a character: up to three bytes more complete it.
        bool valid = false;
        for (std::size_t more = 0; more < 4 && middle + more <= text.size() && !valid; ++more) {
            valid = simdjson::validate_utf8(text.data(), middle + more);
        }
        (valid ? good : bad) = middle;
    }
    return std::pair(good, std::string("not UTF-8: this is no text"));
}

}  // namespace

std::string LoadError::text() const {
    std::string out = file;
    if (line > 0) out += fmt::format(":{}", line);
    for (const std::string* part : {&object, &field, &what}) {
        if (part->empty()) continue;
        if (!out.empty()) out += ": ";
        out += *part;
    }
    return out;
}

class Loader::Work {
public:
    Work(Vocabulary& words, Sink sink)
        : reader_(words),
          sink_(std::move(sink)),
          json_(
              reader_,
              [this](Object&& object, std::string_view text, std::size_t offset) {
                  ++report_.objects;
                  sink_(std::move(object), source_ref(text, offset));
              },
              [this](std::string_view kind, std::string_view text, std::size_t offset) {
                  own_.find(kind)->second(kind, text, source_ref(text, offset));
              }) {}

    void on_document(std::string kind, OwnSink sink) {
        own_.insert_or_assign(std::move(kind), std::move(sink));
        std::set<std::string, std::less<>> kinds;
        for (const auto& [name, unused] : own_)
            kinds.insert(name);
        reader_.set_own_kinds(std::move(kinds));
    }

    void set_field_check(FieldCheck check) { json_.set_field_check(check); }

    std::expected<void, LoadError> load(const std::string& path) {
        std::error_code code;
        if (path != "-" && fs::is_directory(path, code)) return load_directory(path);
        return load_file(path);
    }

    std::expected<void, LoadError> load_window(const std::string& name, TextWindow window) {
        file_ = name;
        ++report_.files;
        while (window.text().size() < kByteOrderMark.size() && window.grow()) {
        }
        if (window.text().starts_with(kByteOrderMark)) window.drop(kByteOrderMark.size());
        return name.ends_with(".json") || is_json(window) ? load_json(window) : load_yaml(window);
    }

    [[nodiscard]] LoadReport report() {
        LoadReport report = report_;
        report.ignored = reader_.ignored();
        report.warnings = reader_.reading().warnings();
        report.list_version = json_.list_version();
        report.list_continue = json_.list_continue();
        return report;
    }

private:
    [[nodiscard]] SourceRef source_ref(std::string_view text, std::size_t offset) const {
        return {file_,
                offset,
                line_at_,
                {.api_version = reader_.header().api_version, .kind = reader_.header().kind, .json = text}};
    }
    [[nodiscard]] std::unexpected<LoadError> fault(std::size_t line, std::string what) const {
        return std::unexpected(
            LoadError{.file = file_, .line = line, .object = {}, .field = {}, .what = std::move(what)});
    }
    [[nodiscard]] std::unexpected<LoadError> fault(std::size_t line, DecodeError error) const {
        return std::unexpected(LoadError{.file = file_,
                                         .line = line,
                                         .object = std::move(error.object),
                                         .field = std::move(error.field),
                                         .what = std::move(error.what)});
    }

    std::expected<void, LoadError> load_file(const std::string& path) {
        file_ = path;
        Result<TextWindow> window = TextWindow::open(path);
        if (!window) return fault(0, window.error().message);
        return load_window(path, std::move(*window));
    }

    // Links to directories are not followed, names that start with a dot are passed over.
    std::expected<void, LoadError> load_directory(const fs::path& directory) {
        std::error_code code;
        std::vector<fs::path> entries;
        for (fs::directory_iterator at(directory, code), end; !code && at != end; at.increment(code))
            entries.push_back(at->path());
        file_ = directory;
        if (code) return fault(0, fmt::format("cannot read: {}", code.message()));
        std::sort(entries.begin(), entries.end());
        for (const fs::path& entry : entries) {
            if (entry.filename().native().starts_with('.')) continue;
            const bool nested = fs::is_directory(entry, code) && !fs::is_symlink(entry, code);
            if (!nested && (!is_manifest(entry) || !fs::is_regular_file(entry, code))) continue;
            auto loaded = nested ? load_directory(entry) : load_file(entry);
            if (!loaded) return loaded;
        }
        return {};
    }

    std::expected<void, LoadError> load_json(TextWindow& window) {
        line_at_ = [&window](std::size_t offset) { return window.line_at(offset); };
        auto done = json_.run(window);
        report_.bytes += window.offset();
        if (!done) return fault(window.line_at(done.error().offset), std::move(done.error()));
        return {};
    }

    std::expected<void, LoadError> load_yaml(TextWindow& window) {
        while (window.grow()) {
            if (window.text().size() > kLargestYaml)
                return fault(0, "a YAML file of more than 1 GiB; write it as JSON");
        }
        if (!window.fault().empty()) return fault(0, window.fault());
        report_.bytes += window.text().size();
        if (const auto bad = find_bad_character(window.text()))
            return fault(window.line_at(window.offset() + bad->first), bad->second);
        YamlDocuments documents(window.text());
        YamlDocument document;
        line_at_ = [&document](std::size_t offset) { return document.line_at(offset); };
        while (true) {
            auto more = documents.next(document);
            if (!more) return fault(more.error().line, std::move(more.error().what));
            if (!*more) return {};
            if (document.json.empty() || document.json == "null") continue;
            const std::size_t size = document.json.size();
            document.json.append(simdjson::SIMDJSON_PADDING, '\0');
            TextWindow json(std::string_view(document.json).substr(0, size));
            auto done = json_.run(json);
            if (!done) return fault(document.line_at(done.error().offset), std::move(done.error()));
        }
    }

    ObjectReader reader_;
    Sink sink_;
    std::map<std::string, OwnSink, std::less<>> own_;
    std::string file_;
    std::function<std::size_t(std::size_t)> line_at_;
    JsonLoad json_;
    LoadReport report_;
};

Loader::Loader(Vocabulary& words, Sink sink) : work_(std::make_unique<Work>(words, std::move(sink))) {}

Loader::~Loader() = default;

void Loader::set_field_check(FieldCheck check) { work_->set_field_check(check); }

void Loader::on_document(std::string kind, OwnSink sink) { work_->on_document(std::move(kind), std::move(sink)); }

std::expected<void, LoadError> Loader::load(const std::string& path) { return work_->load(path); }

std::expected<void, LoadError> Loader::load_text(const std::string& name, std::string_view text) {
    std::string padded(text);
    padded.append(simdjson::SIMDJSON_PADDING, '\0');
    return work_->load_window(name, TextWindow(std::string_view(padded).substr(0, text.size())));
}

LoadReport Loader::report() const { return work_->report(); }

}  // namespace reprieve
