#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/neutral.h"

namespace reprieve {

void check_failed(const char* file, int line, const char* condition, std::string_view detail) {
    fmt::print(stderr, "reprieve: bug: {}:{}: CHECK({}) {}\n", file, line, condition, neutral(detail));
    std::fflush(stderr);
    std::abort();
}

}  // namespace reprieve
