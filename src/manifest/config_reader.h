// ConfigReader: typed access to the YAML of a configuration file.
//
// Every complaint is one line, `file:line: key: what is wrong`. Only the first is kept: a reader that has
// failed keeps answering with fallbacks, so that decoding needs no branch after every value.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace reprieve {

// One value and where it stands: `name` is the last part of the dotted `key`.
struct ConfigField {
    std::string name;
    std::string key;
    int line = 0;
    YAML::Node value;
};

class ConfigReader {
public:
    explicit ConfigReader(std::string_view file_name) : file_(file_name) {}

    // The only document of `text`; a null value where there is none.
    ConfigField parse(std::string_view text);

    void complain(const ConfigField& at, std::string_view what);
    // `at` is a key that nobody knows there.
    void complain_unknown(const ConfigField& at, std::span<const std::string_view> known);
    [[nodiscard]] bool failed() const { return error_.has_value(); }
    [[nodiscard]] const Error& error() const { return *error_; }

    // The members of a mapping and of a list, in the order written; null has none.
    std::vector<ConfigField> entries(const ConfigField& at);
    std::vector<ConfigField> items(const ConfigField& at);

    std::string text(const ConfigField& at);
    bool boolean(const ConfigField& at);
    std::int64_t integer(const ConfigField& at, std::int64_t smallest, std::int64_t largest);
    // A decimal from 0 to 1 in millionths.
    std::int32_t millionths(const ConfigField& at);
    // A Go duration, not negative.
    Duration duration(const ConfigField& at);
    // Texts, each at most once and not empty.
    std::vector<std::string> texts(const ConfigField& at);
    // Complains about a `word` not in `known`; `what` says what it should have been ("action").
    std::size_t index_of(const ConfigField& at, std::string_view what, std::span<const std::string_view> known);

private:
    std::string file_;
    std::optional<Error> error_;
};

// Text that came from a file, fit for one line on a terminal: quoted, short, without control characters.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace reprieve
