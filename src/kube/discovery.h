// Discovery: which of the kinds that not every cluster has are served, and in which version.
//
// Lives on the client's thread. A question that got no answer leaves the kinds it was about unknown, never absent.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kube/http_client.h"

namespace reprieve {

enum class KindServed : unsigned char { kYes, kNo, kUnknown };

struct KindFinding {
    KindServed served = KindServed::kUnknown;
    std::string api_version;  // where served
};

// What is known of each "group/version": the plurals it serves; nothing: no answer came.
using ServedPlurals = std::map<std::string, std::optional<std::set<std::string, std::less<>>>, std::less<>>;

// The best version of one kind (an index into followed_kinds).
[[nodiscard]] KindFinding find_version(std::size_t kind, const ServedPlurals& served);
// The plurals in an APIResourceList; nothing: it is none.
[[nodiscard]] std::optional<std::set<std::string, std::less<>>> read_plurals(const std::string& body);

class Discovery {
public:
    explicit Discovery(HttpClient& client) : client_(&client) {}

    using Found = std::function<void(std::size_t kind, const KindFinding&)>;
    // Asks about every kind that is not required and calls `found` for each once all answers are there.
    void ask(Found found);
    [[nodiscard]] bool asking() const { return open_ > 0; }

private:
    void answered(const std::string& version, const HttpAnswer& answer);

    HttpClient* client_;
    Found found_;
    ServedPlurals served_;
    std::size_t open_ = 0;
};

}  // namespace reprieve
