#include "app/schema_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>

#include "app/schema_texts.h"
#include "base/check.h"
#include "manifest/action_args.h"
#include "manifest/config_keys.h"
#include "manifest/json_fields.h"

namespace reprieve {
namespace {

constexpr const char* kDialect = "https://json-schema.org/draft/2020-12/schema";
// A Go duration: 1h30m, 1.5s, 250ms.
constexpr const char* kDurationPattern = R"(^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$)";

OrderedJson words_of(const ConfigKey& key) {
    OrderedJson words = OrderedJson::array();
    for (const std::string_view word : key.words)
        words.push_back(std::string(word));
    // The gang actions have more names than one.
    if (key.path == "actions[].name") {
        for (const char* other : {"gang-preempt", "gangpreempt", "gang-reclaim", "gangreclaim"})
            words.push_back(other);
    }
    return words;
}

// What the table writes as YAML, as JSON: flags and numbers as such, short flow lists, else text.
OrderedJson value_of(const ConfigKey& key, std::string_view written) {
    switch (key.type) {
        case KeyType::kFlag:
            return written == "true";
        case KeyType::kInteger:
        case KeyType::kShare:
            return OrderedJson::parse(written);
        case KeyType::kTexts:
        case KeyType::kWords: {
            OrderedJson items = OrderedJson::array();
            std::string_view rest = written.substr(1, written.size() - 2);
            while (!rest.empty()) {
                const std::size_t comma = std::min(rest.find(", "), rest.size());
                items.push_back(std::string(rest.substr(0, comma)));
                rest.remove_prefix(std::min(comma + 2, rest.size()));
            }
            return items;
        }
        default:
            return std::string(written);
    }
}

OrderedJson type_of(const ConfigKey& key) {
    OrderedJson out = OrderedJson::object();
    switch (key.type) {
        case KeyType::kText:
            out = {{"type", "string"}, {"minLength", 1}};
            break;
        case KeyType::kTexts:
            out = {{"type", "array"}, {"uniqueItems", true}, {"items", {{"type", "string"}, {"minLength", 1}}}};
            break;
        case KeyType::kWord:
            out = {{"type", "string"}, {"enum", words_of(key)}};
            break;
        case KeyType::kWords:
            out = {{"type", "array"}, {"uniqueItems", true}, {"items", {{"type", "string"}, {"enum", words_of(key)}}}};
            break;
        case KeyType::kFlag:
            out = {{"type", "boolean"}};
            break;
        case KeyType::kInteger:
            out = {{"type", "integer"}, {"minimum", key.least}, {"maximum", key.most}};
            break;
        case KeyType::kShare:
            out = {{"type", "number"}, {"minimum", 0}, {"maximum", 1}};
            break;
        case KeyType::kDuration:
            out = {{"type", "string"}, {"pattern", kDurationPattern}};
            if (key.most > 0) out["x-maximum"] = format_duration({key.most});
            break;
        case KeyType::kMapping:
        case KeyType::kItems:
            break;
    }
    return out;
}

OrderedJson schema_below(std::string_view path, bool items);

OrderedJson schema_of(const ConfigKey& key) {
    OrderedJson out = type_of(key);
    const std::string path(key.path);
    if (key.type == KeyType::kMapping) out = schema_below(path, false);
    if (key.type == KeyType::kItems) out = {{"type", "array"}, {"minItems", 1}, {"items", schema_below(path, true)}};
    if (key.or_mapping) out = {{"oneOf", OrderedJson::array({out, schema_below(path, false)})}};
    OrderedJson head = {{"description", std::string(key.meaning)}, {"x-type", to_text(key.type)}};
    if (!key.fallback.empty()) head["default"] = value_of(key, key.fallback);
    if (key.type != KeyType::kMapping && key.type != KeyType::kItems)
        head["examples"] = OrderedJson::array({value_of(key, key.example)});
    head.update(out);
    return head;
}

// The arguments that one action takes.
OrderedJson args_rule(std::size_t action) {
    OrderedJson names = OrderedJson::array();
    for (const std::string_view name : action_arg_names()) {
        if (takes_arg(static_cast<ActionKind>(action), name)) names.push_back(std::string(name));
    }
    return {{"if", {{"properties", {{"name", {{"const", std::string(action_names()[action])}}}}}}},
            {"then", {{"properties", {{"args", {{"propertyNames", {{"enum", names}}}}}}}}}};
}

OrderedJson schema_below(std::string_view path, bool items) {
    OrderedJson properties = OrderedJson::object();
    for (const std::string_view name : config_names_below(path)) {
        const std::string below =
            path.empty() ? std::string(name) : fmt::format("{}{}.{}", path, items ? "[]" : "", name);
        const ConfigKey* key = find_config_key(below);
        REPRIEVE_CHECK(key != nullptr, "{}", below);
        properties[std::string(name)] = schema_of(*key);
    }
    OrderedJson out = {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
    if (path == "actions") {
        out["required"] = OrderedJson::array({"name"});
        out["allOf"] = OrderedJson::array();
        for (std::size_t i = 0; i < action_names().size(); ++i)
            out["allOf"].push_back(args_rule(i));
    }
    return out;
}

}  // namespace

std::string config_schema() {
    OrderedJson out = {{"$schema", kDialect},
                       {"title", "SchedulerConfig"},
                       {"description", "What a user of Reprieve can choose; `reprieve check` reads it."}};
    out.update(schema_below("", false));
    return out.dump(2) + "\n";
}

std::string plan_schema() { return std::string(kPlanSchema); }

void add_schema_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of plans or of configurations");
    const auto what = std::make_shared<std::string>();
    command->add_option("WHAT", *what, "plan or config")
        ->required()
        ->check(CLI::IsMember({"plan", "config"}))
        ->type_name("WHAT");
    command->footer("\nExample:\n  reprieve schema config > scheduler-config.schema.json\n");
    command->callback([what] { fmt::print("{}", *what == "plan" ? plan_schema() : config_schema()); });
}

}  // namespace reprieve
