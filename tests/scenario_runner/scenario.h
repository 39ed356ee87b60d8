// Scenario: one file: a sentence, a world of ordinary manifests, and what is expected of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "expect.h"

namespace reprieve::scenario {

struct Scenario {
    std::string name;             // of the file, for messages
    std::string sentence;         // its first line
    std::string text;             // as it stands in the file
    bool repeats = false;         // `text` alone is not the whole world
    std::vector<Json> documents;  // lists taken apart, repetitions written out
    Expect expect;
};

[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& file);
[[nodiscard]] Result<Scenario> read_scenario(const std::string& name, std::string text);

}  // namespace reprieve::scenario
