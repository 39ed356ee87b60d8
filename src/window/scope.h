// Scope: a document as somebody may see it who may look at some namespaces only.
//
// Names of other namespaces are what tenants must not learn from each other. Entries that speak only of others are left
// out, and where an entry of theirs names somebody else, a sign stands instead of the name. Sums over the whole cluster
// stay: they name nobody.
#pragma once

#include <set>
#include <string>

namespace reprieve::window {

[[nodiscard]] std::string scoped(const std::string& document, const std::set<std::string>& namespaces);

}  // namespace reprieve::window
