#include "app/token_check.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

// An API server that knows two people: one may list pods everywhere, the other in one namespace.
struct Api {
    int calls = 0;
    Result<std::string> operator()(const std::string& path, const std::string& body) {
        ++calls;
        const auto spec = nlohmann::json::parse(body)["spec"];
        if (path.ends_with("tokenreviews")) {
            const std::string token = spec["token"];
            if (token != "admin" && token != "tenant") return R"({"status":{"authenticated":false}})";
            return R"({"status":{"authenticated":true,"user":{"username":")" + token + R"(","groups":["g"]}}})";
        }
        const std::string ns = spec["resourceAttributes"]["namespace"];
        const bool allowed = spec["user"] == "admin" || ns == "mine";
        return std::string(R"({"status":{"allowed":)") + (allowed ? "true" : "false") + "}}";
    }
};

std::set<std::string> namespaces() { return {"mine", "theirs"}; }

TEST(TokenCheck, AsksTheApiServerWhoMayLook) {
    Api api;
    TokenCheck check(std::ref(api), false, namespaces);
    EXPECT_TRUE(check("admin")->everything);
    EXPECT_EQ(check("stranger").error().message, "the API server does not know this token");
    EXPECT_FALSE(check("tenant").has_value()) << "without a scope it is all or nothing";
    const int calls = api.calls;
    EXPECT_TRUE(check("admin").has_value());
    EXPECT_EQ(api.calls, calls) << "an answer is kept for a while";
}

TEST(TokenCheck, TenantsSeeTheirNamespaces) {
    Api api;
    TokenCheck check(std::ref(api), true, namespaces);
    const auto viewer = check("tenant");
    ASSERT_TRUE(viewer.has_value());
    EXPECT_FALSE(viewer->everything);
    EXPECT_EQ(viewer->namespaces, std::set<std::string>{"mine"});
}

TEST(TokenCheck, NobodyLooksWhereNobodyCanBeAsked) {
    TokenCheck check(
        [](const std::string&, const std::string&) { return fail("there is no API server"); }, true, namespaces);
    EXPECT_EQ(check("admin").error().message, "the token cannot be checked: there is no API server");
}

}  // namespace
}  // namespace reprieve
