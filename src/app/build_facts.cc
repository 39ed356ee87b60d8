#include "app/build_facts.h"

#include <fmt/format.h>

#include "base/version.h"

namespace reprieve {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version_json() {
    // No value holds a character that JSON would want escaped.
    return fmt::format(R"({{"version":"{}","commit":"{}","build":"{}, {}"}})"
                       "\n",
                       kVersion,
                       build_commit(),
                       build_kind(),
                       kCompiler);
}

}  // namespace reprieve
