// ConfigKeys: every key that a SchedulerConfig may have, with its type, default, range, example and meaning.
//
// One table for three readers. The decoder refuses a key that is not in it (`check_config_keys`), `reprieve schema
// config` prints it as a JSON Schema, and docs/reference/configuration.md is written from that schema. So a key that
// somebody adds to the decoder alone does not work, and one added to the table alone fails the test of the page.
//
// Paths are as people write them in text: `search.budget`; `[]` stands for any item of a list
// (`actions[].args.improve`).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/config_reader.h"

namespace reprieve {

enum class KeyType : std::uint8_t {
    kText,      // any text that is not empty
    kTexts,     // a list of texts, each at most once
    kWord,      // one of `words`
    kWords,     // a list of `words`, each at most once
    kFlag,      // true or false
    kInteger,   // from `least` to `most`
    kShare,     // a decimal from 0 to 1
    kDuration,  // a Go duration; `most` in microseconds where it is not 0
    kMapping,   // the keys below it
    kItems      // a list of mappings with the keys below it
};
[[nodiscard]] const char* to_text(KeyType type);

struct ConfigKey {
    std::string_view path;
    KeyType type = KeyType::kText;
    std::string_view fallback;  // the value that holds where the key is absent, as YAML; empty: `meaning` says it
    std::string_view example;   // a value that differs from the default, as YAML
    std::string_view meaning;
    std::span<const std::string_view> words{};
    std::int64_t least = 0;
    std::int64_t most = 0;
    // A mapping may stand in the place of a word: then the keys below it are allowed too.
    bool or_mapping = false;
};

// In the order of the reference page: a key stands before those below it.
[[nodiscard]] std::span<const ConfigKey> config_keys();
// Null where there is none.
[[nodiscard]] const ConfigKey* find_config_key(std::string_view path);
// The last parts of the keys directly below `path` (empty: the top level).
[[nodiscard]] std::vector<std::string_view> config_names_below(std::string_view path);

// Whether the table has the key of this field.
[[nodiscard]] bool is_config_key(const ConfigField& field);
// `field` is a key that nobody knows there; names the known ones.
void complain_unknown_key(ConfigReader& in, const ConfigField& field);
// Complains about the first key below `root` that the table does not have.
void check_config_keys(ConfigReader& in, const ConfigField& root);

}  // namespace reprieve
