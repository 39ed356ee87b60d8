#include "window/scope.h"

#include <array>
#include <string_view>

#include "manifest/json_fields.h"

namespace reprieve::window {
namespace {

constexpr const char* kSomebodyElse = "(another namespace)";

bool is_name_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
}

// Keys whose values are "namespace/name", or lists of such.
constexpr std::array<std::string_view, 22> kNameKeys{
    "pod",       "for",   "group",    "gang",   "pods",           "evicted", "spared",
    "unplaced",  "with",  "waitsFor", "placed", "name",           "of",      "instead",
    "waiting",   "owner", "claim",    "frees",  "noLongerPlaced", "evicts",  "noLongerWaiting",
    "deployment"};

// Lists of entries that stand for themselves: those that name nobody who may be seen are dropped.
constexpr std::array<std::string_view, 11> kEntryLists{"decisions",
                                                       "recent",
                                                       "pods",
                                                       "promised",
                                                       "leaving",
                                                       "lines",
                                                       "evictions",
                                                       "placements",
                                                       "unplaced",
                                                       "certificates",
                                                       "receipts"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
}

class Scope {
public:
    explicit Scope(const std::set<std::string>& namespaces) : namespaces_(namespaces) {}

    // "ns/name" whose namespace may not be seen.
    [[nodiscard]] bool hides(std::string_view name) const {
        const std::size_t slash = name.find('/');
        return slash != std::string_view::npos && !namespaces_.contains(std::string(name.substr(0, slash)));
    }

    // Names inside sentences: words with one slash, unless they are resources such as nvidia.com/gpu.
    [[nodiscard]] std::string sentence(const std::string& text) const {
        std::string out;
        std::size_t at = 0;
        while (at < text.size()) {
            if (!is_name_letter(text[at])) {
                out += text[at++];
                continue;
            }
            std::size_t end = at;
            int slashes = 0;
            while (end < text.size() && (is_name_letter(text[end]) || text[end] == '/'))
                slashes += text[end++] == '/' ? 1 : 0;
            std::string word = text.substr(at, end - at);
            const bool is_resource = word.find('.') < word.find('/');
            out += slashes == 1 && !is_resource && hides(word) ? kSomebodyElse : word;
            at = end;
        }
        return out;
    }

    // "kubectl get events -n NAMESPACE ...NAME": the two stand apart.
    [[nodiscard]] bool hides_command(const std::string& text) const {
        constexpr std::string_view kOption = " -n ";
        if (sentence(text) != text) return true;
        const std::size_t at = text.find(kOption);
        if (at == std::string::npos) return false;
        const std::string rest = text.substr(at + kOption.size());
        return !namespaces_.contains(rest.substr(0, rest.find(' ')));
    }

    // True: something in it may be seen by name.
    [[nodiscard]] bool concerns(const OrderedJson& value) const {
        if (value.is_string()) {
            const std::string& text = value.get_ref<const std::string&>();
            const std::size_t slash = text.find('/');
            return slash != std::string::npos && namespaces_.contains(text.substr(0, slash));
        }
        if (!value.is_structured()) return false;
        for (const OrderedJson& part : value) {
            if (concerns(part)) return true;
        }
        return false;
    }

    void cut(OrderedJson& value, std::string_view key) const {
        if (value.is_string()) {
            const std::string text = value;
            const bool is_name = contains(kNameKeys, key) && text.find(' ') == std::string::npos;
            value = is_name && hides(text) ? std::string(kSomebodyElse) : sentence(text);
        } else if (value.is_array()) {
            const bool entries = contains(kEntryLists, key) && !value.empty() && value.front().is_structured();
            OrderedJson kept = OrderedJson::array();
            for (OrderedJson& part : value) {
                if (entries && !concerns(part)) continue;
                if (key == "commands" && part.is_string() && hides_command(part)) continue;
                cut(part, key);
                kept.push_back(std::move(part));
            }
            value = std::move(kept);
        } else if (value.is_object()) {
            OrderedJson kept = OrderedJson::object();
            for (auto& [name, part] : value.items()) {
                // What is kept by name (explanations) is a list of entries too.
                if (key == "explanations" && hides(name)) continue;
                cut(part, name);
                kept[sentence(name)] = std::move(part);
            }
            value = std::move(kept);
        }
    }

    // Pods of Room stand in rows without keys: [name, queue, ...]; others keep their shape and lose their name.
    void cut_room(OrderedJson& document) const {
        for (OrderedJson& node : document["nodes"]) {
            for (OrderedJson& pod : node.back()) {
                if (hides(pod.front().get_ref<const std::string&>())) pod.front() = kSomebodyElse;
            }
        }
        for (OrderedJson& gang : document["gangs"]) {
            if (hides(gang.get_ref<const std::string&>())) gang = kSomebodyElse;
        }
    }

private:
    const std::set<std::string>& namespaces_;
};

}  // namespace

std::string scoped(const std::string& text, const std::set<std::string>& namespaces) {
    OrderedJson document = OrderedJson::parse(text);
    const Scope scope(namespaces);
    if (document.is_object() && document.value("kind", "") == "Room")
        scope.cut_room(document);
    else
        scope.cut(document, "");
    document["scoped"] = true;
    return document.dump();
}

}  // namespace reprieve::window
