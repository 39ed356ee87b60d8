// The objects of resource.k8s.io, in every version, and what pods say of claims.
#include <gtest/gtest.h>

#include <string>

#include "base/quantity.h"
#include "manifest/loaded.h"

namespace reprieve {
namespace {

Loaded load_resource(const std::string& version, const std::string& kind, const std::string& rest) {
    return load_text("apiVersion: resource.k8s.io/" + version + "\nkind: " + kind + "\nmetadata: {name: x}\n" + rest);
}

TEST(DecodeDevices, OlderVersionsSayTheSame) {
    const Loaded now = load_resource("v1", "ResourceSlice", R"(spec:
  driver: d.example
  pool: {name: p, generation: 2, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - {name: a, attributes: {index: {int: 1}, other.io/tag: {string: t}}, capacity: {memory: {value: 1Gi}}}
)");
    const Loaded then = load_resource("v1beta1", "ResourceSlice", R"(spec:
  driver: d.example
  pool: {name: p, generation: 2, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - {name: a, basic: {attributes: {index: {int: 1}, other.io/tag: {string: t}}, capacity: {memory: {value: 1Gi}}}}
)");
    for (const Loaded* in : {&now, &then}) {
        const ResourceSlice& slice = in->one<ResourceSlice>();
        EXPECT_EQ(slice.trouble, "");
        EXPECT_EQ(slice.generation, 2);
        ASSERT_EQ(slice.devices.size(), 1U);
        ASSERT_EQ(slice.devices[0].attributes.size(), 2U);
        EXPECT_EQ(in->text(slice.devices[0].attributes[0].name.domain), "d.example");
        EXPECT_EQ(in->text(slice.devices[0].attributes[1].name.domain), "other.io");
        EXPECT_TRUE(slice.devices[0].capacity.at(0).value == *parse_nano_quantity("1Gi"));
    }
}

TEST(DecodeDevices, FlatAndWrappedRequests) {
    const Loaded flat = load_resource(
        "v1beta1", "ResourceClaim", "spec: {devices: {requests: [{name: r, deviceClassName: gpu, count: 2}]}}\n");
    const Loaded wrapped = load_resource(
        "v1", "ResourceClaim", "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}\n");
    for (const Loaded* in : {&flat, &wrapped}) {
        const DeviceRequest& request = in->one<ResourceClaim>().spec.requests.at(0);
        EXPECT_FALSE(request.first_available);
        EXPECT_EQ(in->text(request.wishes.at(0).cls), "gpu");
        EXPECT_EQ(request.wishes.at(0).count, 2);
        EXPECT_EQ(request.wishes.at(0).trouble, "");
    }
}

TEST(DecodeDevices, WhatMakesNoSenseIsKeptAsASentence) {
    const auto trouble = [](const std::string& exactly) {
        const Loaded in = load_resource(
            "v1", "ResourceClaim", "spec: {devices: {requests: [{name: r, exactly: {" + exactly + "}}]}}\n");
        return in.one<ResourceClaim>().spec.requests.at(0).wishes.at(0).trouble;
    };
    EXPECT_EQ(trouble("deviceClassName: g, allocationMode: Half"), "allocation mode Half is not supported");
    EXPECT_EQ(trouble("deviceClassName: g, capacity: {requests: {m: \"-5\"}}"), "capacity m: \"-5\" is negative");
    EXPECT_EQ(trouble("deviceClassName: g, capacity: {requests: {m: 18446744073709551616}}"),
              "capacity m: \"18446744073709551616\" cannot be represented in 64 bits");
    EXPECT_EQ(trouble("count: 1"), "has no device class");
    const Loaded empty = load_resource("v1", "ResourceClaim", "spec: {devices: {constraints: [{}]}}\n");
    EXPECT_EQ(empty.one<ResourceClaim>().spec.trouble, "constraint #0 is empty, or of a kind that is not supported");
}

TEST(DecodeDevices, InitContainersUseWhatTheOthersAskFor) {
    const Loaded in = load_text(R"(apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  initContainers:
  - {name: i0, resources: {requests: {example.com/gpu: 3}}}
  - {name: i1, resources: {requests: {example.com/gpu: 1}}}
  containers:
  - {name: c, resources: {requests: {cpu: 1, example.com/gpu: 2}}}
)");
    const PodSpec& spec = in.shape();
    ASSERT_EQ(spec.extended.size(), 2U);
    EXPECT_EQ(in.text(spec.extended[0].request), "container-0-request-0");
    EXPECT_EQ(spec.extended[0].count, 1);
    EXPECT_EQ(in.text(spec.extended[1].request), "container-2-request-1");
    EXPECT_EQ(spec.extended[1].count, 2);
}

}  // namespace
}  // namespace reprieve
