// What is kept of an object is what decisions depend on, and no more.
#include "record/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "manifest/decode.h"
#include "manifest/load.h"

namespace reprieve {
namespace {

// Every object of every scenario: the decoder makes the same of it, projected or whole.
TEST(Projection, ChangesNothingForAnyScenario) {
    std::size_t objects = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(REPRIEVE_SCENARIOS)) {
        if (entry.path().extension() != ".yaml") continue;
        Vocabulary words;
        Decoder decoder(words);
        Projection projection;
        std::string projected;
        Loader loader(words, [&](Object&& whole, const SourceRef& source) {
            const SourceRef::Text& text = source.text();
            ASSERT_TRUE(projection.project(text.api_version, text.kind, text.json, projected)) << text.json;
            EXPECT_EQ(projected.find('\n'), std::string::npos);
            const auto decoded = decoder.decode(projected);
            ASSERT_TRUE(decoded.has_value() && decoded->has_value()) << entry.path() << "\n" << projected;
            EXPECT_TRUE(**decoded == whole) << entry.path() << "\n" << text.json << "\n" << projected;
            ++objects;
        });
        for (const char* kind : {"Expect", "Timeline", "SchedulerConfig"})
            loader.on_document(kind, [](std::string_view, std::string_view, const SourceRef&) {});
        static_cast<void>(loader.load(entry.path().string()));  // some scenarios are about what cannot be loaded
    }
    EXPECT_GT(objects, 1000U);
}

TEST(Projection, KeepsNoSecrets) {
    Projection projection;
    std::string out;
    ASSERT_TRUE(projection.project("v1",
                                   "Pod",
                                   R"({
        "metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "77", "managedFields": [{"manager": "hush-1"}],
            "labels": {"app": "web"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hush-2", "example.com/token": "hush-3",
                "reprieve.dev/min-runtime": "5m"}},
        "spec": {"nodeName": "n1", "imagePullSecrets": [{"name": "hush-4"}], "serviceAccountName": "hush-5",
            "volumes": [{"name": "v", "secret": {"secretName": "hush-6"}}, {"name": "w", "csi": {"driver": "d", "volumeAttributes": {"k": "hush-7"}}}],
            "containers": [{"name": "c", "image": "i:1", "command": ["hush-8"], "args": ["hush-9"],
                "env": [{"name": "P", "value": "hush-10"}], "envFrom": [{"secretRef": {"name": "hush-11"}}],
                "livenessProbe": {"httpGet": {"path": "/?hush-12"}}, "lifecycle": {"preStop": {"exec": {"command": ["hush-13"]}}},
                "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running", "podIP": "hush-14", "message": "hush-15",
            "conditions": [{"type": "Ready", "status": "True", "message": "hush-16"},
                {"type": "PodScheduled", "status": "True"},
                {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "by whom"}],
            "containerStatuses": [{"name": "c", "state": {"waiting": {"message": "hush-17"}}}]}})",
                                   out));
    EXPECT_EQ(out.find("hush"), std::string::npos) << out;
    EXPECT_EQ(
        out,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns","uid":"u","labels":{"app": "web"},)"
        R"("annotations":{"reprieve.dev/min-runtime":"5m"}},"spec":{"nodeName":"n1",)"
        R"("volumes":[{"name":"v"},{"name":"w","csi":{"driver":"d"}}],)"
        R"("containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu": "1"}}}]},)"
        R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},)"
        R"({"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler","message":"by whom"}],)"
        R"("containerStatuses":[{"name":"c"}]}})");
}

TEST(Projection, OfSomethingElseIsNothing) {
    Projection projection;
    std::string out;
    EXPECT_FALSE(projection.project("v1", "Pod", "", out));
    EXPECT_FALSE(projection.project("v1", "Pod", "[1]", out));
    EXPECT_FALSE(projection.project("v1", "Pod", R"({"metadata": {"name": )", out));
}

}  // namespace
}  // namespace reprieve
