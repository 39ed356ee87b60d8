// BuildFacts: which sources this program was built from, and how.
#pragma once

#include <string>

namespace reprieve {

// A full commit id, with `-dirty` after it where files were changed; `unknown` where there was no repository.
[[nodiscard]] const char* build_commit();
// "RelWithDebInfo, Linux x86_64".
[[nodiscard]] const char* build_kind();

// `version -o json`: {"version", "commit", "build"} and a line end.
[[nodiscard]] std::string version_json();

}  // namespace reprieve
