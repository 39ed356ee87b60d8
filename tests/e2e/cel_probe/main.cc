// cel_probe: one answer for each question on standard input, both JSON on a line of their own.
//
//   {"expression": "...", "driver": "d", "allowMultipleAllocations": true,
//    "attributes": {"domain/id": {"int": 1}}, "capacity": {"domain/id": "10Gi"}}
//   {"answer": "true" | "false" | "fails", "why": "..."}
#include <algorithm>
#include <deque>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "base/quantity.h"
#include "base/semver.h"
#include "cel/expression.h"

namespace reprieve {
namespace {

using nlohmann::json;

// Splits a name into domain and id; without a domain it is the driver's.
std::pair<std::string_view, std::string_view> split_name(std::string_view name, std::string_view driver) {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) return {driver, name};
    return {name.substr(0, slash), name.substr(slash + 1)};
}

json answer(const json& question) {
    std::deque<Semver> versions;
    std::deque<std::string> texts;
    const auto keep = [&](std::string text) -> std::string_view { return texts.emplace_back(std::move(text)); };
    cel::Device device;
    device.driver = keep(question.at("driver"));
    device.allow_multiple_allocations = question.at("allowMultipleAllocations");
    for (const auto& [name, value] : question.at("attributes").items()) {
        const auto [domain, id] = split_name(keep(name), device.driver);
        cel::Attribute made{.domain = domain, .id = id, .value = false};
        if (value.contains("bool")) made.value = value.at("bool").get<bool>();
        if (value.contains("int")) made.value = value.at("int").get<std::int64_t>();
        if (value.contains("string")) made.value = keep(value.at("string"));
        if (value.contains("version")) {
            versions.push_back(*Semver::parse(value.at("version").get<std::string>()));
            made.value = &versions.back();
        }
        device.attributes.push_back(made);
    }
    for (const auto& [name, value] : question.at("capacity").items()) {
        const auto [domain, id] = split_name(keep(name), device.driver);
        device.capacity.push_back({.domain = domain, .id = id, .nano = *parse_nano_quantity(value.get<std::string>())});
    }
    const auto by_name = [](const auto& one) { return std::tuple(one.domain, one.id); };
    std::ranges::sort(device.attributes, {}, by_name);
    std::ranges::sort(device.capacity, {}, by_name);
    const Result<cel::Expression> expression = cel::Expression::parse(question.at("expression").get<std::string>());
    if (!expression) return {{"answer", "fails"}, {"why", "refused: " + expression.error().message}};
    const Result<bool> matches = expression->matches(device);
    if (!matches) return {{"answer", "fails"}, {"why", matches.error().message}};
    return {{"answer", *matches ? "true" : "false"}, {"why", ""}};
}

}  // namespace
}  // namespace reprieve

int main() {
    for (std::string line; std::getline(std::cin, line);)
        std::cout << reprieve::answer(nlohmann::json::parse(line)).dump() << std::endl;
}
