#include "manifest/family_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace reprieve {

void FamilyTree::note(const Object& object, const SourceRef& source, const Vocabulary& words) {
    if (const auto* queue = std::get_if<Queue>(&object)) note_queue(*queue, source, words);
    if (const auto* group = std::get_if<CompositeGroup>(&object)) note_composite(*group, source, words);
    if (const auto* hyper_node = std::get_if<HyperNode>(&object)) note_hyper_node(*hyper_node, source, words);
}

void FamilyTree::note_queue(const Queue& queue, const SourceRef& source, const Vocabulary& words) {
    if (!queue.parent) return;
    const std::string name = words.str(queue.name);
    Member member{.place = {.what = "the chain of parents is a circle"}, .relatives = {words.str(queue.parent)}};
    if (queue.is_quota) {
        add({Kind::kQueue, "", name},
            source,
            fmt::format("ElasticQuota {}/{}", words.text(queue.ns), name),
            "metadata.labels[quota.scheduling.koordinator.sh/parent]",
            std::move(member));
    } else {
        add({Kind::kQueue, "", name}, source, "Queue " + name, "spec.parent", std::move(member));
    }
}

void FamilyTree::note_composite(const CompositeGroup& group, const SourceRef& source, const Vocabulary& words) {
    if (!group.parent) return;
    const std::string ns = words.str(group.ns);
    const std::string name = words.str(group.name);
    add({Kind::kComposite, ns, name},
        source,
        fmt::format("CompositePodGroup {}/{}", ns, name),
        "spec.parentCompositePodGroupName",
        {.place = {.what = "the chain of parents is a circle"}, .relatives = {words.str(group.parent)}});
}

void FamilyTree::note_hyper_node(const HyperNode& hyper_node, const SourceRef& source, const Vocabulary& words) {
    Member member{.place = {.what = "a HyperNode cannot contain itself"}};
    for (const HyperNodeMember& m : hyper_node.members) {
        if (m.is_node) continue;
        if (m.match == HyperNodeMember::Match::kExact) {
            member.relatives.push_back(m.text);
        } else if (auto pattern = Pattern::parse(m.text)) {
            member.patterns.push_back(std::move(*pattern));
        }
    }
    if (member.relatives.empty() && member.patterns.empty()) return;
    const std::string name = words.str(hyper_node.name);
    add({Kind::kHyperNode, "", name}, source, "HyperNode " + name, "spec.members", std::move(member));
}

void FamilyTree::add(Key key, const SourceRef& source, std::string object, std::string field, Member member) {
    member.place.file = source.file();
    member.place.line = source.line();
    member.place.object = std::move(object);
    member.place.field = std::move(field);
    members_.insert_or_assign(std::move(key), std::move(member));
}

// Those that have relatives themselves: nobody else can be in a circle.
std::vector<FamilyTree::Key> FamilyTree::relatives_of(const Key& key) const {
    const auto& [kind, ns, own_name] = key;
    const Member& member = members_.at(key);
    std::vector<Key> out;
    for (const std::string& name : member.relatives) {
        if (members_.contains({kind, ns, name})) out.emplace_back(kind, ns, name);
    }
    if (member.patterns.empty()) return out;
    for (const auto& [other, unused] : members_) {
        const std::string& name = std::get<2>(other);
        if (std::get<0>(other) != kind || name == own_name) continue;  // a pattern may match its owner
        const auto matches = [&](const Pattern& pattern) { return pattern.occurs_in(name); };
        if (std::ranges::any_of(member.patterns, matches)) out.push_back(other);
    }
    return out;
}

// Depth first, with a stack of its own: chains may be long.
std::optional<LoadError> FamilyTree::find_circle() const {
    struct Step {
        Key key;
        std::vector<Key> left;
    };
    std::set<Key> done;
    for (const auto& [start, unused] : members_) {
        if (done.contains(start)) continue;
        std::set<Key> open{start};
        std::vector<Step> path{{start, relatives_of(start)}};
        while (!path.empty()) {
            if (path.back().left.empty()) {
                open.erase(path.back().key);
                done.insert(path.back().key);
                path.pop_back();
                continue;
            }
            Key next = std::move(path.back().left.back());
            path.back().left.pop_back();
            if (done.contains(next)) continue;
            if (!open.insert(next).second) {
                std::vector<Key> circle;
                const auto first = std::ranges::find(path, next, &Step::key);
                std::transform(first, path.end(), std::back_inserter(circle), [](const Step& s) { return s.key; });
                return describe(std::move(circle));
            }
            auto relatives = relatives_of(next);
            path.push_back({std::move(next), std::move(relatives)});
        }
    }
    return std::nullopt;
}

LoadError FamilyTree::describe(std::vector<Key> circle) const {
    constexpr std::size_t kMostNames = 8;
    std::ranges::rotate(circle, std::ranges::min_element(circle));
    LoadError error = members_.at(circle.front()).place;
    std::vector<std::string> names;
    for (const Key& key : circle)
        names.push_back(std::get<2>(key));
    if (names.size() > kMostNames) {
        names.resize(kMostNames);
        names.emplace_back("...");
    }
    names.push_back(names.front());
    error.what += fmt::format(": {}", fmt::join(names, ", "));
    return error;
}

}  // namespace reprieve
