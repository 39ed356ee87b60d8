// What is said on standard error. It quotes names and files that anybody may have written, so it all goes through here
// and is made harmless.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace reprieve {

// "reprieve: what", on one line.
void print_complaint(std::string_view what);

// What is wrong with the command line, and where help is.
[[nodiscard]] std::string complaint_about_usage(const CLI::App* app, const CLI::Error& error);

// Text of several lines as it is, each line made harmless.
void print_advice(std::string_view lines);

}  // namespace reprieve
