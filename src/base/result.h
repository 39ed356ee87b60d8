// Result: "the world is wrong". The error is one sentence that a person can act on.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace reprieve {

// Where a caller answers some errors in a way of their own: with an exit code, with a status of HTTP.
enum class ErrorKind : std::uint8_t {
    kFailure,
    kUsage,     // what was asked makes no sense
    kNotFound,  // there is nothing of that name
    kNotNow     // it may work later
};

struct Error {
    std::string message;
    ErrorKind kind = ErrorKind::kFailure;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message, ErrorKind kind = ErrorKind::kFailure) {
    return std::unexpected(Error{std::move(message), kind});
}

}  // namespace reprieve
