#include "kube/http.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kube/json_parts.h"

namespace reprieve {
namespace {

constexpr std::size_t kLongestQuote = 300;

void read_causes(const nlohmann::json& status, ApiStatus& out) {
    const auto details = status.find("details");
    if (details == status.end() || !details->is_object()) return;
    const auto causes = details->find("causes");
    if (causes == details->end() || !causes->is_array()) return;
    for (const nlohmann::json& cause : *causes) {
        if (!cause.is_object()) continue;
        if (text_at(cause, "reason") == "DisruptionBudget") out.budget_refused = true;
        if (text_at(cause, "field") == "metadata.uid") out.wrong_uid = true;
    }
}

}  // namespace

ApiStatus read_status(const std::string& body) {
    ApiStatus out;
    const nlohmann::json status = nlohmann::json::parse(body, nullptr, false);
    if (!status.is_object() || text_at(status, "kind") != "Status") return out;
    out.reason = text_at(status, "reason");
    out.message = text_at(status, "message");
    const auto code = status.find("code");
    if (code != status.end() && code->is_number_integer()) out.code = code->get<int>();
    read_causes(status, out);
    return out;
}

std::string HttpAnswer::text() const {
    if (status == 0) return failure;
    const ApiStatus said = read_status(body);
    if (said.message.empty()) return fmt::format("{} {}", status, body.substr(0, kLongestQuote));
    return fmt::format("{} {}: {}", status, said.reason, said.message);
}

std::string url_encode(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '.' || c == '_' || c == '~';
        if (plain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
    return out;
}

}  // namespace reprieve
