// The kinds of object that are followed on an API server, and where each is served.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/objects.h"
#include "model/vocabulary.h"

namespace reprieve {

struct FollowedKind {
    std::string_view kind;
    std::string_view group;                      // empty: the core group
    std::span<const std::string_view> versions;  // best first
    std::string_view plural;
    bool namespaced;
    bool required;  // every cluster serves it; others may come and go
    // An object of this kind that has a name and nothing else: all that it takes to say that one is gone.
    Object (*named)(StringId ns, std::string_view name, Vocabulary& words);
};

[[nodiscard]] std::span<const FollowedKind> followed_kinds();
// Index of the kind, or the number of kinds.
[[nodiscard]] std::size_t find_followed(std::string_view kind, std::string_view group);

// "v1" or "group/version".
[[nodiscard]] std::string api_version(const FollowedKind& kind, std::string_view version);
// "/api/v1" or "/apis/group/version".
[[nodiscard]] std::string api_root(std::string_view api_version);
// "/api/v1/namespaces/ns/pods/name/sub"; without a name the collection, without a namespace that of all.
[[nodiscard]] std::string object_path(std::string_view api_version,
                                      std::string_view ns,
                                      std::string_view plural,
                                      std::string_view name,
                                      std::string_view sub = {});

}  // namespace reprieve
