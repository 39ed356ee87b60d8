#include "kube/discovery.h"

#include <gtest/gtest.h>

#include "kube/kinds.h"

namespace reprieve {
namespace {

TEST(Kinds, PathsAndVersions) {
    const FollowedKind& pod = followed_kinds()[find_followed("Pod", "")];
    EXPECT_EQ(api_version(pod, "v1"), "v1");
    EXPECT_EQ(object_path("v1", "ns", "pods", "a", "status"), "/api/v1/namespaces/ns/pods/a/status");
    EXPECT_EQ(object_path("apps/v1", "", "deployments", ""), "/apis/apps/v1/deployments");
    EXPECT_EQ(find_followed("Pod", "apps"), followed_kinds().size());
}

TEST(Kinds, EveryKindCanSayThatOneIsGone) {
    Vocabulary words;
    for (const FollowedKind& kind : followed_kinds()) {
        const Object object = kind.named(words.string("ns"), "name", words);
        const bool has_namespace = std::visit(
            [&](const auto& one) {
                if constexpr (requires { one.ns; })
                    return one.ns.valid();
                else
                    return false;
            },
            object);
        EXPECT_EQ(has_namespace, kind.namespaced) << kind.kind << " " << kind.group;
    }
}

TEST(Discovery, BestServedVersionWins) {
    const std::size_t group = find_followed("PodGroup", "scheduling.k8s.io");
    ServedPlurals served;
    served["scheduling.k8s.io/v1beta1"].emplace();
    served["scheduling.k8s.io/v1alpha3"] = {{"podgroups"}};
    served["scheduling.k8s.io/v1alpha2"] = {{"podgroups"}};
    EXPECT_EQ(find_version(group, served).api_version, "scheduling.k8s.io/v1alpha3");
    served["scheduling.k8s.io/v1beta1"] = {{"podgroups", "workloads"}};
    EXPECT_EQ(find_version(group, served).api_version, "scheduling.k8s.io/v1beta1");
}

TEST(Discovery, NoAnswerIsNotAbsence) {
    const std::size_t group = find_followed("PodGroup", "scheduling.k8s.io");
    ServedPlurals served;
    served["scheduling.k8s.io/v1beta1"].emplace();
    served["scheduling.k8s.io/v1alpha3"].emplace();
    served["scheduling.k8s.io/v1alpha2"] = std::nullopt;
    EXPECT_EQ(find_version(group, served).served, KindServed::kUnknown);
    served["scheduling.k8s.io/v1alpha2"].emplace();
    EXPECT_EQ(find_version(group, served).served, KindServed::kNo);
}

TEST(Discovery, ReadsResourceLists) {
    const auto plurals =
        read_plurals(R"({"kind":"APIResourceList","resources":[{"name":"queues"},{"name":"queues/status"},{}]})");
    ASSERT_TRUE(plurals.has_value());
    EXPECT_TRUE(plurals->contains("queues"));
    EXPECT_EQ(plurals->size(), 2U);
    EXPECT_FALSE(read_plurals("404 page not found").has_value());
}

}  // namespace
}  // namespace reprieve
