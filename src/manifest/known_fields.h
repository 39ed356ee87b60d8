// KnownFields: fields that a kind does not have are most often misspelt ones.
//
// The tables hold what Kubernetes and the dialects know, not only what is read here. Objects that come from an API
// server (they have a resourceVersion) are not looked at: it has dropped what it does not know.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace reprieve {

class KnownFields {
public:
    // A field that is not known: its path, what to say of it, and where its name stands in the text.
    using Report = std::function<void(const std::string& path, const std::string& what, const char* where)>;

    // `json`: a valid object, with room behind it as simdjson asks for.
    static void check(std::string_view json, std::string_view kind, std::string_view api_version, const Report& report);
};

}  // namespace reprieve
