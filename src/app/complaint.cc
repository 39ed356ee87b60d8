#include "app/complaint.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/neutral.h"

namespace reprieve {

void print_complaint(std::string_view what) { fmt::print(stderr, "reprieve: {}\n", neutral(what)); }

std::string complaint_about_usage(const CLI::App* app, const CLI::Error& error) {
    return "reprieve: " + CLI::FailureMessage::simple(app, error);
}

void print_advice(std::string_view lines) {
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        fmt::print(stderr, "{}\n", neutral(lines.substr(0, end)));
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
}

}  // namespace reprieve
