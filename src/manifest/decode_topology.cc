// Volcano's HyperNode: a tree of nodes that are near each other.
#include <fmt/format.h>

#include "base/pattern.h"
#include "manifest/decode_selector.h"
#include "manifest/object_source.h"

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, bool> kMemberTypes[] = {{"Node", true}, {"HyperNode", false}};
constexpr std::size_t kLongestPattern = 1024;

void read_text_field(Cursor& at, KeyId key, const char* name, std::string& out) {
    for (Fields f(at); f.next();) {
        if (f.id() == key) f->read(out);
    }
    if (out.empty()) at.wrong(name, "is missing");
}

void check_pattern(const Cursor& at, const std::string& pattern) {
    if (pattern.size() > kLongestPattern) return at.wrong("pattern", "is longer than 1024 characters");
    if (const auto parsed = Pattern::parse(pattern); !parsed)
        at.wrong("pattern", fmt::format("\"{}\" {}", pattern, parsed.error().message));
}

void decode_selector_of(Cursor& at, HyperNodeMember& out) {
    int written = 0;
    for (Fields f(at); f.next();) {
        if (f->is_null()) continue;
        ++written;
        switch (f.id()) {
            case "exactMatch"_key:
                out.match = HyperNodeMember::Match::kExact;
                read_text_field(*f, "name"_key, "name", out.text);
                break;
            case "regexMatch"_key:
                out.match = HyperNodeMember::Match::kRegex;
                read_text_field(*f, "pattern"_key, "pattern", out.text);
                check_pattern(*f, out.text);
                break;
            case "labelMatch"_key:
                out.match = HyperNodeMember::Match::kLabels;
                decode_selector(*f, out.selector);
                break;
            default:
                --written;
                break;
        }
    }
    if (written != 1) at.wrong("must have exactly one of exactMatch, regexMatch and labelMatch");
}

void decode_member(Cursor& at, HyperNodeMember& out) {
    std::optional<bool> is_node;
    bool selected = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "type"_key:
                f->choose(is_node, kMemberTypes);
                break;
            case "selector"_key:
                decode_selector_of(*f, out);
                selected = true;
                break;
            default:
                break;
        }
    }
    if (!is_node) return at.wrong("type", "is missing");
    if (!selected) return at.wrong("selector", "is missing");
    out.is_node = *is_node;
    if (!out.is_node && out.match == HyperNodeMember::Match::kLabels)
        at.wrong("selector.labelMatch", "is for members of type Node");
}

}  // namespace

void decode_hyper_node(ObjectSource& from, Object& out) {
    HyperNode& hyper_node = out.emplace<HyperNode>();
    hyper_node.name = from.name;
    for (Fields& f = from.fields; f.next();) {
        if (f.id() != "spec"_key) continue;
        for (Fields field(*f); field.next();) {
            switch (field.id()) {
                case "tier"_key:
                    field->read(hyper_node.tier, 0);
                    break;
                case "tierName"_key:
                    field->read(hyper_node.tier_name);
                    break;
                case "members"_key:
                    for (Items item(*field); item.next();)
                        decode_member(*item, hyper_node.members.emplace_back());
                    break;
                default:
                    break;
            }
        }
    }
}

}  // namespace reprieve
