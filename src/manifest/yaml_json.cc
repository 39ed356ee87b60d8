#include "manifest/yaml_json.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <spanstream>
#include <string_view>
#include <utility>

#include "manifest/yaml_scalar.h"

namespace reprieve {
namespace {

constexpr std::size_t kDeepestYaml = 100;
constexpr std::size_t kRoomForAliases = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kGrowth = 8;

std::size_t line_of(const YAML::Mark& mark) { return mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line) + 1; }

// Writes the events of one document as JSON. After a fault it only waits for the end: it must not throw through the
// parser.
class JsonWriter final : public YAML::EventHandler {
public:
    JsonWriter(YamlDocument& out, std::size_t most_bytes) : out_(&out), most_bytes_(most_bytes) {}

    [[nodiscard]] const std::optional<YamlFault>& fault() const { return fault_; }
    [[nodiscard]] const YAML::Mark& start() const { return start_; }

    void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (!begin_value(mark)) return;
        const std::size_t from = json().size();
        json() += "null";
        end_value(anchor, from);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (!begin_value(mark)) return;
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) return fail(mark, "an alias inside the value that it stands for");
        const Span span = found->second;
        if (json().size() + span.size() > most_bytes_) return fail(mark, "aliases make the document too large");
        const std::size_t from = json().size();
        json().append(json(), span.from, span.size());
        if (!frames_.empty()) frames_.back().last_alias = anchor;
        end_value(0, from);
    }

    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override {
        if (fault_) return;
        if (expects_key()) return begin_key(mark, tag, value);
        if (!begin_value(mark)) return;
        const std::size_t from = json().size();
        const bool core_tag = tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float" ||
                              tag == "tag:yaml.org,2002:bool" || tag == "tag:yaml.org,2002:null";
        if (tag == "?" || tag.empty() || core_tag) {
            append_plain_scalar(value, json());
        } else {
            append_json_string(value, json());
        }
        end_value(anchor, from);
    }

    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string&,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, '[', anchor);
    }
    void OnSequenceEnd() override { close(']'); }

    void OnMapStart(const YAML::Mark& mark,
                    const std::string&,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, '{', anchor);
    }
    void OnMapEnd() override {
        if (fault_) return;
        merge();
        close('}');
    }

private:
    struct Span {
        std::size_t from = 0;
        std::size_t to = 0;
        [[nodiscard]] std::size_t size() const { return to - from; }
    };
    struct Entry {
        std::string key;
        Span text;  // "key":value
    };
    struct Frame {
        char opening = '[';
        bool key_next = false;
        bool merging = false;  // the value to come belongs to a merge key
        std::size_t count = 0;
        std::size_t from = 0;
        YAML::anchor_t anchor = 0;
        YAML::anchor_t last_alias = 0;
        std::size_t entry_from = 0;
        std::string key;
        std::set<std::string, std::less<>> keys;
        std::vector<Entry> entries;
        std::vector<YAML::anchor_t> merges;
    };

    [[nodiscard]] std::string& json() { return out_->json; }
    [[nodiscard]] bool expects_key() const { return !frames_.empty() && frames_.back().key_next; }
    void fail(const YAML::Mark& mark, std::string what) {
        if (!fault_) fault_ = YamlFault{line_of(mark), std::move(what)};
    }
    void mark_line(const YAML::Mark& mark) { out_->lines.emplace_back(json().size(), line_of(mark)); }

    void begin_key(const YAML::Mark& mark, const std::string& tag, const std::string& key) {
        Frame& frame = frames_.back();
        line_ = mark;
        frame.key_next = false;
        frame.key = key;
        frame.merging = key == "<<" && tag == "?";
        if (frame.merging) return;
        if (!frame.keys.insert(key).second) return fail(mark, fmt::format("the key \"{}\" is written twice", key));
        if (frame.count++ > 0) json() += ',';
        frame.entry_from = json().size();
        append_json_string(key, json());
        json() += ':';
    }

    // False: there is no place for a value here.
    bool begin_value(const YAML::Mark& mark) {
        if (fault_) return false;
        line_ = mark;
        if (expects_key()) {
            fail(mark, "a key must be a string");
            return false;
        }
        if (json().size() > most_bytes_) {
            fail(mark, "the document is too large");
            return false;
        }
        if (!frames_.empty() && frames_.back().opening == '[' && frames_.back().count++ > 0) json() += ',';
        if (!frames_.empty()) frames_.back().last_alias = 0;
        mark_line(mark);
        return true;
    }

    void end_value(YAML::anchor_t anchor, std::size_t from) {
        if (anchor != 0) anchors_[anchor] = {from, json().size()};
        if (frames_.empty() || frames_.back().opening == '[') return;
        Frame& frame = frames_.back();
        frame.key_next = true;
        if (!frame.merging) {
            frame.entries.push_back({std::move(frame.key), {frame.entry_from, json().size()}});
            return;
        }
        // What stands behind a merge key is taken out again; its entries come at the end of the map.
        json().resize(from);
        if (!maps_.contains(frame.last_alias)) return fail(line_, "a merge key (<<) must be an alias of a map");
        frame.merges.push_back(frame.last_alias);
    }

    void open(const YAML::Mark& mark, char opening, YAML::anchor_t anchor) {
        if (!begin_value(mark)) return;
        if (frames_.size() >= kDeepestYaml)
            return fail(mark, fmt::format("nested deeper than {} levels", kDeepestYaml));
        Frame& frame = frames_.emplace_back();
        frame.opening = opening;
        frame.key_next = opening == '{';
        frame.from = json().size();
        frame.anchor = anchor;
        json() += opening;
    }

    // Keys of the map itself win over merged ones, earlier merges over later ones.
    void merge() {
        Frame& frame = frames_.back();
        for (const YAML::anchor_t source : frame.merges) {
            for (const Entry& entry : maps_[source]) {
                if (!frame.keys.insert(entry.key).second) continue;
                if (json().size() + entry.text.size() > most_bytes_)
                    return fail(line_, "aliases make the document too large");
                if (frame.count++ > 0) json() += ',';
                const std::size_t from = json().size();
                mark_line(line_);
                json().append(json(), entry.text.from, entry.text.size());
                frame.entries.push_back({entry.key, {from, json().size()}});
            }
        }
    }

    void close(char closing) {
        if (fault_) return;
        json() += closing;
        Frame frame = std::move(frames_.back());
        frames_.pop_back();
        if (!frames_.empty()) frames_.back().last_alias = 0;
        if (frame.anchor != 0 && frame.opening == '{') maps_[frame.anchor] = std::move(frame.entries);
        end_value(frame.anchor, frame.from);
    }

    YamlDocument* out_;
    std::size_t most_bytes_;
    std::vector<Frame> frames_;
    std::map<YAML::anchor_t, Span> anchors_;
    std::map<YAML::anchor_t, std::vector<Entry>> maps_;
    YAML::Mark start_;
    YAML::Mark line_;
    std::optional<YamlFault> fault_;
};

// The parser speaks of its own states; these are the ones that people meet.
std::string plain_words(const std::string& message) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPlain{{
        {"end of map flow not found", "a { is not closed"},
        {"end of sequence flow not found", "a [ is not closed"},
        {"end of map not found", "this line does not belong to the fields above it; look at its indentation"},
        {"end of sequence not found", "this line does not belong to the list above it; look at its indentation"},
        {"illegal map value", "a second colon, or a field where none can be; look at quotes and indentation"},
        {"illegal EOF in scalar", "a quotation is not closed"},
    }};
    for (const auto& [theirs, ours] : kPlain) {
        if (message == theirs) return std::string(ours);
    }
    return message;
}

}  // namespace

std::size_t YamlDocument::line_at(std::size_t offset) const {
    const auto after = std::upper_bound(
        lines.begin(), lines.end(), offset, [](std::size_t at, const auto& entry) { return at < entry.first; });
    if (after != lines.begin()) return std::prev(after)->second;
    return lines.empty() ? 0 : lines.front().second;
}

struct YamlDocuments::Stream {
    explicit Stream(std::string_view text)
        : in(std::span<const char>(text.data(), text.size())),
          parser(in),
          size(text.size()) {}
    std::ispanstream in;
    YAML::Parser parser;
    std::size_t size;
    int last_start = -1;
};

YamlDocuments::YamlDocuments(std::string_view text) : stream_(std::make_unique<Stream>(text)) {}

YamlDocuments::~YamlDocuments() = default;

std::expected<bool, YamlFault> YamlDocuments::next(YamlDocument& out) {
    out.json.clear();
    out.lines.clear();
    JsonWriter writer(out, stream_->size * kGrowth + kRoomForAliases);
    try {
        if (!stream_->parser.HandleNextDocument(writer)) return false;
    } catch (const YAML::Exception& error) {
        if (writer.fault()) return std::unexpected(*writer.fault());
        return std::unexpected(
            YamlFault{line_of(error.mark), fmt::format("not valid YAML: {}", plain_words(error.msg))});
    } catch (const std::exception& error) {
        return std::unexpected(YamlFault{0, fmt::format("not valid YAML: {}", error.what())});
    }
    if (writer.fault()) return std::unexpected(*writer.fault());
    // The parser takes a stray comma or bracket for an empty document, and stays where it is.
    if (writer.start().pos == stream_->last_start) {
        return std::unexpected(YamlFault{line_of(writer.start()), "not valid YAML: something that starts no document"});
    }
    stream_->last_start = writer.start().pos;
    return true;
}

}  // namespace reprieve
