// Result: "the world is wrong". The error is one sentence that a person can act on.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace reprieve {

struct Error {
    std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) { return std::unexpected(Error{std::move(message)}); }

}  // namespace reprieve
