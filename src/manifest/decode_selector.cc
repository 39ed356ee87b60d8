#include "manifest/decode_selector.h"

#include <fmt/format.h>

#include <charconv>

namespace reprieve {
namespace {

constexpr std::pair<std::string_view, SelectorOp> kLabelOps[] = {{"In", SelectorOp::kIn},
                                                                 {"NotIn", SelectorOp::kNotIn},
                                                                 {"Exists", SelectorOp::kExists},
                                                                 {"DoesNotExist", SelectorOp::kDoesNotExist}};
constexpr std::pair<std::string_view, SelectorOp> kNodeOps[] = {{"In", SelectorOp::kIn},
                                                                {"NotIn", SelectorOp::kNotIn},
                                                                {"Exists", SelectorOp::kExists},
                                                                {"DoesNotExist", SelectorOp::kDoesNotExist},
                                                                {"Gt", SelectorOp::kGt},
                                                                {"Lt", SelectorOp::kLt}};

enum class Place : std::uint8_t { kLabels, kNodeLabels, kNodeFields };

bool compares(SelectorOp op) { return op == SelectorOp::kGt || op == SelectorOp::kLt; }
bool lists(SelectorOp op) { return op == SelectorOp::kIn || op == SelectorOp::kNotIn; }

// Empty values are values: they are kept, unlike in other lists of names.
void read_values(Cursor& at, std::vector<std::string_view>& out) {
    for (Items item(at); item.next();) {
        std::string_view value;
        item->read(value);
        out.push_back(value);
    }
}

void check_values(const Cursor& at, SelectorOp op, const std::vector<std::string_view>& values, Requirement& out) {
    if (lists(op) && values.empty()) return at.wrong("values", "must not be empty with In and NotIn");
    if (!lists(op) && !compares(op) && !values.empty())
        return at.wrong("values", "must be empty with Exists and DoesNotExist");
    if (!compares(op)) return;
    if (values.size() != 1) return at.wrong("values", "must be one number with Gt and Lt");
    const char* end = values[0].data() + values[0].size();
    const auto read = std::from_chars(values[0].data(), end, out.bound);
    if (read.ec != std::errc{} || read.ptr != end)
        at.wrong("values", fmt::format("\"{}\" is not a whole number", values[0]));
}

void decode_requirement(Cursor& at, Place place, Requirement& out) {
    std::string_view key;
    std::optional<SelectorOp> op;
    std::vector<std::string_view> values;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "key"_key:
                f->read(key);
                break;
            case "operator"_key:
                place == Place::kLabels ? f->choose(op, kLabelOps) : f->choose(op, kNodeOps);
                break;
            case "values"_key:
                read_values(*f, values);
                break;
            default:
                break;
        }
    }
    if (at.reading().failed()) return;
    if (key.empty()) return at.wrong("key", "is missing");
    if (!op) return at.wrong("operator", "is missing");
    out.op = *op;
    check_values(at, *op, values, out);
    if (place == Place::kNodeFields) {
        if (key != "metadata.name")
            return at.wrong("key", fmt::format("\"{}\" is not metadata.name, the only field there is", key));
        if (!lists(*op)) return at.wrong("operator", "must be In or NotIn for metadata.name");
    } else {
        out.key = at.words().string(key);
    }
    if (!lists(*op)) return;
    for (const std::string_view value : values)
        out.values.push_back(at.words().string(value));
    sort_unique(out.values);
}

void decode_requirements(Cursor& at, Place place, std::vector<Requirement>& out) {
    for (Items item(at); item.next();)
        decode_requirement(*item, place, out.emplace_back());
}

}  // namespace

Requirement equals(StringId key, StringId value) {
    Requirement requirement;
    requirement.key = key;
    requirement.op = SelectorOp::kIn;
    requirement.values = {value};
    return requirement;
}

void decode_selector(Cursor& at, LabelSelector& out) {
    if (at.is_null()) return;
    out = {};
    out.null = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "matchLabels"_key:
                for (Fields label(*f); label.next();) {
                    std::string_view value;
                    label->read(value);
                    out.requirements.push_back(equals(at.words().string(label.key()), at.words().string(value)));
                }
                break;
            case "matchExpressions"_key:
                decode_requirements(*f, Place::kLabels, out.requirements);
                break;
            default:
                break;
        }
    }
    sort_unique(out.requirements);
}

void decode_node_term(Cursor& at, NodeSelectorTerm& out) {
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "matchExpressions"_key:
                decode_requirements(*f, Place::kNodeLabels, out.labels);
                break;
            case "matchFields"_key:
                decode_requirements(*f, Place::kNodeFields, out.names);
                break;
            default:
                break;
        }
    }
    sort_unique(out.labels);
    sort_unique(out.names);
}

void decode_node_terms(Cursor& at, std::vector<NodeSelectorTerm>& out) {
    for (Items item(at); item.next();)
        decode_node_term(*item, out.emplace_back());
    sort_unique(out);
}

}  // namespace reprieve
