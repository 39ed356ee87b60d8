// Strict reading of what people write into a scenario: every key must be known, and what is wrong is said with its
// path.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprieve::scenario {

using Json = nlohmann::json;
// What is wrong, a sentence each: "plan.evict[0].unti: unknown key".
using Faults = std::vector<std::string>;

// The keys of one object. Whoever reads takes what it knows; `finish` complains about the rest.
class Keys {
public:
    Keys(const Json& object, std::string path, Faults& faults);

    // Null: not written.
    [[nodiscard]] const Json* take(std::string_view key);
    [[nodiscard]] std::string text(std::string_view key, std::string otherwise = "");
    [[nodiscard]] bool flag(std::string_view key, bool otherwise);
    void finish();

    [[nodiscard]] std::string at(std::string_view key) const;
    void fault(std::string_view key, std::string_view what);

private:
    const Json& object_;
    std::string path_;
    Faults& faults_;
    std::set<std::string, std::less<>> taken_;
};

// "b" is "default/b": pods and groups are named with their namespace.
[[nodiscard]] std::string full_name(std::string_view name);

// "low-{0..59}" is sixty names; "{00..59}" keeps the width. A name without braces is itself.
[[nodiscard]] std::vector<std::string> spelled_out(std::string_view name);

// A list of names (or one name), full and spelled out.
[[nodiscard]] std::vector<std::string> names_in(const Json& value, const std::string& path, Faults& faults);

}  // namespace reprieve::scenario
