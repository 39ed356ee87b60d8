// FamilyTree: who is whose parent among the queues, composite groups and HyperNodes of an input, and where it is
// written: trees that are none are refused with file and line, before anybody walks them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/pattern.h"
#include "manifest/load.h"
#include "model/objects.h"
#include "model/vocabulary.h"

namespace reprieve {

class FamilyTree {
public:
    // Objects without relatives are passed over.
    void note(const Object& object, const SourceRef& source, const Vocabulary& words);

    // The first circle, by the names in it; its smallest member is the object that the error names.
    [[nodiscard]] std::optional<LoadError> find_circle() const;

private:
    enum class Kind : std::uint8_t { kQueue, kComposite, kHyperNode };
    using Key = std::tuple<Kind, std::string, std::string>;  // namespace (composites only), name

    struct Member {
        LoadError place;  // what is wrong with it, should it be in a circle
        std::vector<std::string> relatives;
        std::vector<Pattern> patterns;  // of names of relatives
    };

    void note_queue(const Queue& queue, const SourceRef& source, const Vocabulary& words);
    void note_composite(const CompositeGroup& group, const SourceRef& source, const Vocabulary& words);
    void note_hyper_node(const HyperNode& hyper_node, const SourceRef& source, const Vocabulary& words);
    void add(Key key, const SourceRef& source, std::string object, std::string field, Member member);
    [[nodiscard]] std::vector<Key> relatives_of(const Key& key) const;
    [[nodiscard]] LoadError describe(std::vector<Key> circle) const;

    std::map<Key, Member> members_;
};

}  // namespace reprieve
