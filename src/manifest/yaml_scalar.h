// YAML scalars in JSON.
#pragma once

#include <string>
#include <string_view>

namespace reprieve {

// A plain scalar by the core schema: a boolean, a number in JSON's spelling, or else a string in quotes.
void append_plain_scalar(std::string_view scalar, std::string& out);
void append_json_string(std::string_view text, std::string& out);

}  // namespace reprieve
