// One line of a log: what happened, with its particulars. The same line can be written as text, for people, or as JSON.
//
//     2026-03-02T09:00:00Z info bind pod=default/web-0 node=n1
//     {"time":"2026-03-02T09:00:00Z","level":"info","event":"bind","pod":"default/web-0","node":"n1"}
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace reprieve {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class LogFormat : std::uint8_t { kText, kJson };

[[nodiscard]] const char* to_text(LogLevel level);

struct LogLine {
    std::string event;                                          // a word, or a sentence
    std::vector<std::pair<std::string, std::string>> fields{};  // those without a value are left out
    LogLevel level = LogLevel::kInfo;
};

// "event key=value ...", values in quotes where they have spaces or quotes in them.
[[nodiscard]] std::string as_text(const LogLine& line);
[[nodiscard]] std::string as_json(const LogLine& line, const std::string& when);

// The value as it is, or in quotes where it has spaces or quotes in it.
[[nodiscard]] std::string log_value(const std::string& text);

}  // namespace reprieve
