// What is said on standard error. It quotes names and files that anybody may have written, so it all goes through here
// and is made harmless.
#pragma once

#include <string_view>

namespace reprieve {

// "reprieve: what", on one line.
void print_complaint(std::string_view what);

// Text of several lines as it is, each line made harmless.
void print_advice(std::string_view lines);

}  // namespace reprieve
