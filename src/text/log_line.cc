#include "text/log_line.h"

#include <nlohmann/json.hpp>

#include "text/display_text.h"

namespace reprieve {

const char* to_text(LogLevel level) {
    switch (level) {
        case LogLevel::kDebug:
            return "debug";
        case LogLevel::kInfo:
            return "info";
        case LogLevel::kWarn:
            return "warn";
        case LogLevel::kError:
            return "error";
    }
    return "";
}

std::string log_value(const std::string& text) {
    const std::string harmless = neutral(text);
    if (!harmless.empty() && harmless.find_first_of(" \"=") == std::string::npos) return harmless;
    std::string out = "\"";
    for (char c : harmless) {
        if (c == '"') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string as_text(const LogLine& line) {
    std::string out = line.event;
    for (const auto& [key, value] : line.fields) {
        if (!value.empty()) out += " " + key + "=" + log_value(value);
    }
    return out;
}

std::string as_json(const LogLine& line, const std::string& when) {
    nlohmann::ordered_json out = {{"time", when}, {"level", to_text(line.level)}, {"event", line.event}};
    for (const auto& [key, value] : line.fields) {
        if (!value.empty()) out[key] = value;
    }
    return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace reprieve
