#include "manifest/decode.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace reprieve {
namespace {

using Json = nlohmann::json;

TEST(Decode, OneObjectFromBytes) {
    Vocabulary words;
    Decoder decoder(words);
    const auto pod = decoder.decode(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\u00e9"}})");
    ASSERT_TRUE(pod && *pod);
    EXPECT_EQ(std::get<Pod>(**pod).name, "a\u00e9");
    const auto other = decoder.decode(R"({"kind":"Event","apiVersion":"v1"})");
    ASSERT_TRUE(other);
    EXPECT_FALSE(*other);
    EXPECT_EQ(decoder.ignored(), (Counts{{"Event", 1}}));
    const auto bad =
        decoder.decode(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"priority":[]}})");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().text(), "Pod default/a: spec.priority: must be a whole number, not a list");
    EXPECT_FALSE(decoder.decode("[]"));
    EXPECT_FALSE(decoder.decode(""));
    EXPECT_FALSE(decoder.decode("{"));
    EXPECT_TRUE(
        decoder.decode(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})"));  // an error does not stay
}

// A pod, a node, ... with every field that is understood.
const char* const kSamples[] = {
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z",
      "deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"labels":{"a":"b"},"annotations":{"reprieve.dev/devices":"0"},
      "ownerReferences":[{"kind":"Job","name":"j","uid":"x","controller":true}]},
      "spec":{"nodeName":"n","schedulerName":"s","priority":1,"priorityClassName":"c","preemptionPolicy":"Never","hostNetwork":true,
      "overhead":{"cpu":"1"},"resources":{"requests":{"cpu":1},"limits":{"cpu":2}},"nodeSelector":{"k":"v"},"schedulingGates":[{"name":"g"}],
      "schedulingGroup":{"podGroupName":"g"},"terminationGracePeriodSeconds":5,
      "tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoSchedule"}],
      "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}],
      "matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":[{"key":"k","operator":"Lt","values":["1"]}]}}]},
      "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{"matchLabels":{"a":"b"}},"namespaces":["x"],
      "namespaceSelector":{},"matchLabelKeys":["a"],"mismatchLabelKeys":["c"]}]},
      "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"podAffinityTerm":{"topologyKey":"z"}}]}},
      "topologySpreadConstraints":[{"maxSkew":1,"minDomains":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","labelSelector":{},
      "nodeAffinityPolicy":"Honor","nodeTaintsPolicy":"Ignore","matchLabelKeys":["a"]}],
      "initContainers":[{"name":"i","restartPolicy":"Always"}],
      "containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"hostPort":1,"protocol":"TCP","hostIP":"1.2.3.4"}],
      "resources":{"requests":{"cpu":"1","memory":2,"nvidia.com/gpu":1},"limits":{"cpu":"2"}}}],
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c","readOnly":true}},{"name":"e","ephemeral":{}},{"name":"r","rbd":{"image":"i","pool":"p"}}]},
      "status":{"phase":"Running","startTime":"2026-01-01T00:00:00Z","nominatedNodeName":"n","resize":"Deferred",
      "conditions":[{"type":"Ready","status":"True","reason":"r"}],
      "containerStatuses":[{"name":"c","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"1"}}}]}})",
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}],
      "podPreemptionPolicy":{"disableResizePreemption":["x"]}},"status":{"allocatable":{"cpu":"1"},"capacity":{"cpu":1},
      "conditions":[{"type":"Ready","status":"True"}],"images":[{"names":["a"],"sizeBytes":1}]}})",
    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"c"},"value":1,"globalDefault":true,"preemptionPolicy":"Never"})",
    R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},
      "disruptionMode":{"all":{}},"schedulingConstraints":{"topology":[{"key":"rack"}]},"parentCompositePodGroupName":"p","priorityClassName":"c",
      "priority":1,"preemptionPolicy":"Never"}})",
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1,"queue":"q","priorityClassName":"c",
      "minTaskMember":{"a":1},"minResources":{"cpu":1},"networkTopology":{"mode":"hard","highestTierAllowed":1},
      "subGroupPolicy":[{"name":"s","labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["k"],"subGroupSize":1,"minSubGroups":1,
      "networkTopology":{"highestTierName":"t"}}]}})",
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1,"priority":1,"reclaimable":true,"parent":"p",
      "capability":{"cpu":2},"deserved":{"cpu":1},"guarantee":{"resource":{"cpu":1}}},"status":{"state":"Open","allocated":{"cpu":1}}})",
    R"({"apiVersion":"scheduling.sigs.k8s.io/v1alpha1","kind":"ElasticQuota","metadata":{"name":"q"},"spec":{"min":{"cpu":1},"max":{"cpu":2}}})",
    R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":"h"},"spec":{"tier":1,"tierName":"t",
      "members":[{"type":"Node","selector":{"exactMatch":{"name":"n"}}},{"type":"Node","selector":{"labelMatch":{}}}]}})",
    R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchExpressions":[{"key":"k","operator":"Exists"}]}},
      "status":{"disruptionsAllowed":1,"disruptedPods":{"p":"2026-01-01T00:00:00Z"}}})",
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"selector":{},"template":{"spec":{"containers":[{"name":"c"}]}}},
      "status":{"replicas":1,"updatedReplicas":1}})",
    R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"tasks":[{"replicas":2,"template":{"spec":{}}}]}})",
    R"({"apiVersion":"reprieve.dev/v1","kind":"ServingDeployment","metadata":{"name":"s"},"spec":{"priority":1,"priorityClassName":"c","replicas":1,
      "resources":{"cpu":1},"planes":[{"name":"w","score":1,"committed":1}]}})",
    R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v"},"spec":{"storageClassName":"c","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
      "volumeMode":"Block","nodeAffinity":{"required":{"nodeSelectorTerms":[]}},"claimRef":{"namespace":"n","name":"c"},"csi":{"driver":"d","volumeHandle":"h"}},
      "status":{"phase":"Bound"}})",
    R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"storageClassName":"s","volumeName":"v","accessModes":["ReadWriteOnce"],
      "volumeMode":"Block","selector":{},"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound"}})",
    R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"s"},"provisioner":"p","volumeBindingMode":"Immediate",
      "allowedTopologies":[{"matchLabelExpressions":[{"key":"k","values":["v"]}]}]})",
    R"({"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","allocatable":{"count":1}}]}})",
};

std::vector<Json::json_pointer> places_in(const Json& document) {
    std::vector<Json::json_pointer> places;
    const Json flat = document.flatten();
    for (const auto& [place, value] : flat.items()) {
        for (Json::json_pointer at(place); !at.empty(); at = at.parent_pointer())
            places.push_back(at);
    }
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.to_string() < b.to_string(); });
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

// The path of an error without its punctuation, to compare it with a pointer.
std::string letters_of(std::string text) {
    for (std::size_t at = text.find("~1"); at != std::string::npos; at = text.find("~1"))
        text.erase(at, 2);
    std::erase_if(text, [](char c) { return c == '.' || c == '/' || c == '[' || c == ']'; });
    return text;
}

TEST(Decode, SamplesAreGood) {
    for (const char* sample : kSamples) {
        Vocabulary words;
        const auto decoded = Decoder(words).decode(sample);
        ASSERT_TRUE(decoded) << decoded.error().text() << "\n" << sample;
        EXPECT_TRUE(decoded->has_value()) << sample;
    }
}

// A value of the wrong type anywhere either does not matter or is an error at that place: never a crash, never an
// error elsewhere.
TEST(Decode, WrongTypesEverywhere) {
    const Json wrong[] = {Json(7),
                          Json("word"),
                          Json(true),
                          Json(1.5),
                          Json(-3),
                          Json::array({Json::object()}),
                          Json::array({1}),
                          Json::object({{"x", 1}}),
                          Json(nullptr),
                          Json::parse("123456789012345678901234567890"),
                          Json("")};
    std::size_t refused = 0;
    for (const char* sample : kSamples) {
        const Json document = Json::parse(sample);
        for (const Json::json_pointer& place : places_in(document)) {
            for (const Json& value : wrong) {
                Json changed = document;
                changed[place] = value;
                Vocabulary words;
                const auto decoded = Decoder(words).decode(changed.dump());
                if (decoded) continue;
                ++refused;
                const std::string said = letters_of(decoded.error().field);
                const std::string changed_at = letters_of(place.to_string());
                EXPECT_TRUE(said.starts_with(changed_at) || changed_at.starts_with(said))
                    << decoded.error().text() << " after a change at " << place.to_string();
            }
        }
    }
    EXPECT_GT(refused, 1000U);
}

// Every key may be missing.
TEST(Decode, MissingFieldsEverywhere) {
    for (const char* sample : kSamples) {
        const Json document = Json::parse(sample);
        for (const Json::json_pointer& place : places_in(document)) {
            Json changed = document;
            Json& parent = changed[place.parent_pointer()];
            if (!parent.is_object()) continue;
            parent.erase(place.back());
            Vocabulary words;
            const auto decoded = Decoder(words).decode(changed.dump());
            EXPECT_TRUE(decoded || !decoded.error().what.empty()) << place.to_string();
        }
    }
}

}  // namespace
}  // namespace reprieve
