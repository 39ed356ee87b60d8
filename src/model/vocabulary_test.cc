#include "model/vocabulary.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace reprieve {
namespace {

TEST(Vocabulary, StartsWithTheKnownDimensions) {
    Vocabulary words;
    EXPECT_EQ(words.find_dimension("cpu"), kCpu);
    EXPECT_EQ(words.find_dimension("memory"), kMemory);
    EXPECT_EQ(words.find_dimension("pods"), kPods);
    EXPECT_EQ(words.find_dimension("ephemeral-storage"), kEphemeralStorage);
    EXPECT_EQ(words.dimension_count(), 4U);
    EXPECT_FALSE(words.find_dimension("nvidia.com/gpu").valid());
    const Dim gpu = words.dimension("nvidia.com/gpu");
    EXPECT_EQ(words.find_dimension("nvidia.com/gpu"), gpu);
    EXPECT_EQ(words.text(gpu), "nvidia.com/gpu");
}

TEST(Vocabulary, NoneHasNoText) {
    Vocabulary words;
    EXPECT_EQ(words.text(StringId()), "");
    EXPECT_FALSE(words.find_string("a").valid());
    EXPECT_EQ(words.find_string("a"), StringId());
    const StringId a = words.string("a");
    EXPECT_EQ(words.find_string("a"), a);
    EXPECT_EQ(words.str(a), "a");
}

TEST(Vocabulary, EqualLabelSetsShareAnId) {
    Vocabulary words;
    Labels one;
    one.set(words.string("app"), words.string("web"));
    one.set(words.string("tier"), words.string("1"));
    Labels same;
    same.set(words.string("tier"), words.string("1"));
    same.set(words.string("app"), words.string("web"));
    Labels swapped;
    swapped.set(words.string("web"), words.string("app"));
    const LabelsId id = words.labels(one);
    EXPECT_EQ(words.labels(same), id);
    EXPECT_NE(words.labels(swapped), id);
    EXPECT_NE(words.labels(Labels()), id);
    EXPECT_EQ(words.labels(id), one);
}

// One change per field: each must make the shape another one, for == and for the hash alike.
TEST(Vocabulary, EveryFieldOfAShapeCounts) {
    const StringId a(1);
    const Requirement need{.key = a, .op = SelectorOp::kIn, .values = {a}};
    const NodeSelectorTerm term{.labels = {need}, .names = {}};
    const PodAffinityTerm affinity{.topology_key = a, .selector = {}, .namespaces = {a}, .namespace_selector = {}};
    const std::vector<std::function<void(PodSpec&)>> changes = {
        [](PodSpec&) {},
        [](PodSpec& s) { s.requests.set(kCpu, 1); },
        [](PodSpec& s) { s.requests.set(kMemory, 1); },
        [](PodSpec& s) { s.requests.set(kCpu, 2); },
        [](PodSpec& s) { s.score_cpu = 1; },
        [](PodSpec& s) { s.score_memory = 1; },
        [&](PodSpec& s) { s.node_terms = {term}; },
        [&](PodSpec& s) { s.node_terms = {{.labels = {}, .names = {need}}}; },
        [&](PodSpec& s) { s.node_terms = {{.labels = {need, need}, .names = {}}}; },
        [&](PodSpec& s) {
            s.node_terms = {{.labels = {{.key = a, .op = SelectorOp::kNotIn, .values = {a}}}, .names = {}}};
        },
        [&](PodSpec& s) {
            s.node_terms = {{.labels = {{.key = a, .op = SelectorOp::kGt, .values = {}, .bound = 4}}, .names = {}}};
        },
        [&](PodSpec& s) {
            s.node_terms = {{.labels = {{.key = a, .op = SelectorOp::kGt, .values = {}, .bound = 5}}, .names = {}}};
        },
        [&](PodSpec& s) { s.node_selector = {need}; },
        [](PodSpec& s) { s.node_affinity_required = true; },
        [&](PodSpec& s) { s.preferred_nodes = {{.weight = 1, .term = term}}; },
        [&](PodSpec& s) { s.preferred_nodes = {{.weight = 2, .term = term}}; },
        [&](PodSpec& s) { s.tolerations = {{.key = a, .exists = false, .value = {}}}; },
        [&](PodSpec& s) { s.tolerations = {{.key = {}, .exists = true, .value = {}}}; },
        [&](PodSpec& s) { s.tolerations = {{.key = {}, .exists = false, .value = a}}; },
        [&](PodSpec& s) {
            s.tolerations = {{.key = a, .exists = false, .value = {}, .effect = TaintEffect::kNoExecute}};
        },
        [&](PodSpec& s) { s.affinity = {affinity}; },
        [&](PodSpec& s) {
            s.affinity = {{.topology_key = a,
                           .selector = {.null = false, .requirements = {}},
                           .namespaces = {a},
                           .namespace_selector = {}}};
        },
        [&](PodSpec& s) {
            s.affinity = {{.topology_key = a,
                           .selector = {},
                           .namespaces = {a},
                           .namespace_selector = {.null = false, .requirements = {}}}};
        },
        [&](PodSpec& s) {
            s.affinity = {{.topology_key = a, .selector = {}, .namespaces = {}, .namespace_selector = {}}};
        },
        [&](PodSpec& s) { s.anti_affinity = {affinity}; },
        [&](PodSpec& s) { s.preferred_pods = {{.weight = 1, .term = affinity}}; },
        [&](PodSpec& s) { s.preferred_pods = {{.weight = -1, .term = affinity}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}, .max_skew = 2}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}, .min_domains = 2}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}, .hard = false}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}, .honor_node_affinity = false}}; },
        [&](PodSpec& s) { s.spread = {{.topology_key = a, .selector = {}, .honor_taints = true}}; },
        [](PodSpec& s) { s.ports = {{.ip = {}, .protocol = Protocol::kTcp, .port = 80}}; },
        [](PodSpec& s) { s.ports = {{.ip = {}, .protocol = Protocol::kUdp, .port = 80}}; },
        [&](PodSpec& s) { s.ports = {{.ip = a, .protocol = Protocol::kTcp, .port = 80}}; },
        [&](PodSpec& s) { s.volumes = {{.kind = VolumeKind::kClaim, .id = a}}; },
        [&](PodSpec& s) { s.volumes = {{.kind = VolumeKind::kRbd, .id = a}}; },
        [&](PodSpec& s) { s.volumes = {{.kind = VolumeKind::kRbd, .id = a, .read_only = true}}; },
        [&](PodSpec& s) { s.images = {a}; },
        [](PodSpec& s) { s.devices.whole_dim = kPods; },
        [](PodSpec& s) { s.devices.whole = 1; },
        [](PodSpec& s) { s.devices.shares = 1; },
        [](PodSpec& s) { s.devices.share_memory = 1; },
        [](PodSpec& s) { s.devices.share_milli = 1; },
        [](PodSpec& s) { s.devices.share_memory_milli = 1; },
        [](PodSpec& s) { s.devices.dialect = DeviceDialect::kHami; },
        [](PodSpec& s) { s.devices.same_group = true; },
        [](PodSpec& s) { s.devices.policy = DevicePolicy::kSpread; },
        [&](PodSpec& s) { s.scheduler = a; },
        [&](PodSpec& s) { s.host = a; },
    };
    Vocabulary words;
    std::set<std::uint64_t> hashes;
    for (const auto& change : changes) {
        PodSpec spec;
        change(spec);
        PodSpec again;
        change(again);
        EXPECT_EQ(spec.hash(), again.hash());
        hashes.insert(spec.hash());
        const SpecId id = words.spec(spec);
        EXPECT_EQ(words.spec(again), id);
        EXPECT_EQ(words.spec(id), spec);
    }
    EXPECT_EQ(hashes.size(), changes.size());
    EXPECT_EQ(words.spec_count(), changes.size());
}

}  // namespace
}  // namespace reprieve
