// The table of keys and the decoder say the same: every key of the table is read, within the range that it gives, and
// no argument is read that the table does not have.
#include "manifest/config_keys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cctype>
#include <ostream>
#include <set>

#include "manifest/action_args.h"
#include "manifest/config.h"

namespace reprieve {

void PrintTo(const ConfigKey& key, std::ostream* out) { *out << key.path; }

namespace {

using testing::HasSubstr;

// An action that takes the argument at the end of `path`; with `name: allocate` beside it where it is no argument.
std::string_view action_for(std::string_view path) {
    constexpr std::string_view kArgs = "actions[].args.";
    for (std::size_t i = 0; i < action_names().size(); ++i) {
        if (path.starts_with(kArgs) && takes_arg(static_cast<ActionKind>(i), path.substr(kArgs.size())))
            return action_names()[i];
    }
    return "preempt";
}

// A configuration in which only the key at `path` is set.
std::string config_with(std::string_view path, std::string_view value) {
    std::string out = fmt::format("{}", value);
    std::string_view rest = path;
    while (!rest.empty()) {
        const std::size_t dot = rest.rfind('.');
        std::string_view name = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
        rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(0, dot);
        const bool item = name.ends_with("[]");
        if (item) {
            name.remove_suffix(2);
            const bool named = out.starts_with("{name:");
            out = named ? fmt::format("[{}]", out) : fmt::format("[{{name: {}, {}]", action_for(path), out.substr(1));
        }
        out = fmt::format("{{{}: {}}}", name, out);
    }
    return out;
}

Result<SchedulerConfig> with(const ConfigKey& key, std::string_view value) {
    // Lost work is counted in a resource that has to be named; the arguments of one kind of node limit go together.
    std::string text = config_with(key.path, value);
    if (key.path == "actions[].args.cost")
        text = fmt::format("{}, plugins: {{args: {{lostWork: {{resource: gpu}}}}}}}}", text.substr(0, text.size() - 1));
    return parse_config(text, "c.yaml");
}

// Whether a default was written out makes no difference where it is applied.
std::vector<ActionConfig> effective(const SchedulerConfig& config) {
    std::vector<ActionConfig> actions = actions_of(config);
    for (ActionConfig& action : actions) {
        action.roi_threshold_written = false;
        if (action.delete_when_preempted == true) action.delete_when_preempted.reset();
    }
    return actions;
}

class EveryKey : public testing::TestWithParam<ConfigKey> {};

TEST_P(EveryKey, IsReadAndChangesTheConfiguration) {
    const ConfigKey& key = GetParam();
    const auto config = with(key, key.example);
    ASSERT_TRUE(config) << config_with(key.path, key.example) << ": " << config.error().message;
    if (key.path == "apiVersion" || key.path == "kind") return;
    EXPECT_NE(*config, SchedulerConfig{}) << key.path;
}

TEST_P(EveryKey, KeepsItsDefaultWhenItIsWrittenOut) {
    const ConfigKey& key = GetParam();
    if (key.fallback.empty() || key.path.starts_with("plugins.args.")) return;  // written or not is told apart there
    const auto written = with(key, key.fallback);
    ASSERT_TRUE(written) << written.error().message;
    SchedulerConfig expected;
    if (key.path.starts_with("actions[].args.")) {
        const std::string bare = fmt::format("actions: [{{name: {}}}]", action_for(key.path));
        expected = *parse_config(bare, "c.yaml");
    }
    EXPECT_EQ(effective(*written), effective(expected)) << key.path;
}

TEST_P(EveryKey, RefusesWhatIsOutOfItsRange) {
    const ConfigKey& key = GetParam();
    std::vector<std::string> wrong;
    switch (key.type) {
        case KeyType::kInteger:
            EXPECT_TRUE(with(key, fmt::format("{}", key.most)));
            if (key.path != "actions[].args.minCandidateNodesAbsolute") {
                EXPECT_TRUE(with(key, fmt::format("{}", key.least)));
            }
            wrong = {fmt::format("{}", key.least - 1), fmt::format("{}", key.most + 1), "some"};
            break;
        case KeyType::kDuration:
            wrong = {"-1s", "soon"};
            if (key.most > 0) wrong.push_back(fmt::format("{}us", key.most + 1));
            break;
        case KeyType::kShare:
            EXPECT_TRUE(with(key, "0"));
            EXPECT_TRUE(with(key, "1"));
            wrong = {"1.1", "-0.1"};
            break;
        case KeyType::kFlag:
            wrong = {"maybe", "[true]"};
            break;
        case KeyType::kWord:
            for (const std::string_view word : key.words)
                EXPECT_TRUE(with(key, word)) << word;
            wrong = {"nobody-knows-this", "[]"};
            break;
        case KeyType::kWords:
            wrong = {"[nobody-knows-this]"};
            break;
        case KeyType::kText:
            wrong = {"''", "[a]"};
            break;
        case KeyType::kTexts:
            wrong = {"['']", "[a, a]", "a"};
            break;
        case KeyType::kMapping:
            wrong = {"{nobody-knows-this: 1}", "text"};
            break;
        case KeyType::kItems:
            wrong = {"[{nobody-knows-this: 1}]", "[]", "text"};
            break;
    }
    for (const std::string& value : wrong) {
        const auto config = with(key, value);
        ASSERT_FALSE(config) << key.path << ": " << value;
        EXPECT_THAT(config.error().message, HasSubstr("c.yaml:1: ")) << key.path;
    }
}

INSTANTIATE_TEST_SUITE_P(Config,
                         EveryKey,
                         testing::ValuesIn(config_keys().begin(), config_keys().end()),
                         [](const auto& at) {
                             std::string name;
                             for (const char c : at.param.path)
                                 name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             return name;
                         });

TEST(ConfigKeys, TheTableHasEveryArgumentOfAnAction) {
    const auto names = config_names_below("actions[].args");
    const auto taken = action_arg_names();
    EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()),
              std::set<std::string_view>(taken.begin(), taken.end()));
}

TEST(ConfigKeys, AreWrittenOnceEachBelowAMappingWithAMeaning) {
    std::set<std::string_view> seen;
    for (const ConfigKey& key : config_keys()) {
        EXPECT_TRUE(seen.insert(key.path).second) << key.path;
        EXPECT_FALSE(key.meaning.empty()) << key.path;
        std::string_view above =
            key.path.substr(0, key.path.rfind('.') == std::string_view::npos ? 0 : key.path.rfind('.'));
        if (above.ends_with("[]")) above.remove_suffix(2);
        EXPECT_TRUE(above.empty() || seen.contains(above)) << key.path;
    }
}

}  // namespace
}  // namespace reprieve
