#include "scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "manifest/yaml_json.h"
#include "repeat.h"

namespace reprieve::scenario {
namespace {

// Items of a list are objects of their own; what they leave out, the list says ("PodList" holds Pods).
void take_apart(const Json& document, std::vector<Json>& out) {
    const std::string kind = document.value("kind", "");
    if (!kind.ends_with("List") || !document.contains("items")) {
        out.push_back(document);
        return;
    }
    for (Json item : document["items"]) {
        if (kind != "List" && !item.contains("kind")) item["kind"] = kind.substr(0, kind.size() - 4);
        if (!item.contains("apiVersion") && document.contains("apiVersion"))
            item["apiVersion"] = document["apiVersion"];
        out.push_back(std::move(item));
    }
}

Result<std::vector<Json>> documents_of(const std::string& name, const std::string& text) {
    std::vector<Json> out;
    YamlDocuments documents(text);
    YamlDocument document;
    for (;;) {
        const auto more = documents.next(document);
        if (!more) return fail(fmt::format("{}:{}: {}", name, more.error().line, more.error().what));
        if (!*more) return out;
        Json value = Json::parse(document.json, nullptr, false);
        if (value.is_object()) out.push_back(std::move(value));
    }
}

std::string sentence_of(const std::string& text, Faults& faults) {
    const std::string line = text.substr(0, text.find('\n'));
    if (!line.starts_with("# ") || !line.ends_with(".")) {
        faults.emplace_back("the first line must be a comment: the sentence that would stand in the documentation");
        return "";
    }
    return line.substr(2);
}

}  // namespace

Result<std::string> read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return fail(fmt::format("{}: cannot be read", file.string()));
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Result<Scenario> read_scenario(const std::string& name, std::string text) {
    Faults faults;
    Scenario out;
    out.name = name;
    out.text = std::move(text);
    out.sentence = sentence_of(out.text, faults);
    const auto documents = documents_of(name, out.text);
    if (!documents) return std::unexpected(documents.error());
    int expects = 0;
    for (const Json& document : *documents) {
        const std::string kind = document.value("kind", "");
        if (kind == "Expect") {
            out.expect = read_expect(document, faults);
            ++expects;
            continue;
        }
        out.repeats = out.repeats || kind == "Repeat";
        std::vector<Json> written_out;
        expand(document, written_out, faults);
        for (const Json& one : written_out)
            take_apart(one, out.documents);
    }
    if (expects != 1) faults.push_back(fmt::format("there must be one Expect, not {}", expects));
    if (!faults.empty()) return fail(fmt::format("{}:\n  {}", name, fmt::join(faults, "\n  ")));
    return out;
}

}  // namespace reprieve::scenario
