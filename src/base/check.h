// CHECK: "we are wrong". A failed check is a bug in Reprieve, never bad input; it prints and aborts.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace reprieve {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view detail);

}  // namespace reprieve

#define REPRIEVE_CHECK(condition, ...)                                                               \
    do {                                                                                             \
        if (!(condition)) [[unlikely]] {                                                             \
            ::reprieve::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
        }                                                                                            \
    } while (false)
