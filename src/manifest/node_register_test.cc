#include "manifest/node_register.h"

#include <gtest/gtest.h>

#include "manifest/vgpu_holds.h"

namespace reprieve {
namespace {

std::vector<RegisteredDevice> hami_register(std::string_view text) {
    const auto devices = read_node_register(text, RegisterForm::kHami);
    EXPECT_TRUE(devices) << devices.error().message;
    return devices ? *devices : std::vector<RegisteredDevice>();
}

std::string register_fault(std::string_view text, RegisterForm form = RegisterForm::kHami) {
    const auto devices = read_node_register(text, form);
    return devices ? "" : devices.error().message;
}

TEST(NodeRegister, HamisOlderForm) {
    const auto devices =
        hami_register("GPU-a,10,32768,100,NVIDIA-Tesla V100,0,true:GPU-b,4,16384,200,NVIDIA-A10,1,false:");
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[0], (RegisteredDevice{.id = "GPU-a", .index = 0, .split = 10, .memory_mebi = 32768}));
    EXPECT_EQ(devices[1].index, 1);
    EXPECT_EQ(devices[1].cores_percent, 200);
    EXPECT_EQ(devices[1].numa, 1);
    EXPECT_FALSE(devices[1].healthy);
}

TEST(NodeRegister, HamisOlderFormWithIndexAndMode) {
    const auto devices = hami_register("GPU-a,10,80,100,A100,0,true,3,hami-core:GPU-b,7,80,100,A100,0,true,1,mig:");
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[0].index, 3);
    EXPECT_FALSE(devices[0].is_mig);
    EXPECT_EQ(devices[1].index, 1);
    EXPECT_TRUE(devices[1].is_mig);
}

TEST(NodeRegister, VolcanosForms) {
    const auto devices = read_node_register("GPU-a,10,81559,NVIDIA-H100,true,hami-core:GPU-b,1,40,NVIDIA-A100,false:",
                                            RegisterForm::kVolcano);
    ASSERT_TRUE(devices);
    EXPECT_EQ((*devices)[0], (RegisteredDevice{.id = "GPU-a", .index = 0, .split = 10, .memory_mebi = 81559}));
    EXPECT_FALSE((*devices)[1].healthy);
    EXPECT_EQ(register_fault("GPU-a,10,81559,true:", RegisterForm::kVolcano), "device 0: has 4 fields, not 5 or more");
}

TEST(NodeRegister, Json) {
    const auto devices =
        hami_register(R"([{"id":"GPU-a","count":10,"devmem":24576,"devcore":100,"type":"A10","health":true},
        {"id":"GPU-b","index":1,"count":10,"devmem":24576,"devcore":100,"numa":1,"mode":"hami-core","health":true},
        {"id":"GPU-c","index":2,"count":10,"devmem":24576,"devcore":100}])");
    ASSERT_EQ(devices.size(), 3U);
    EXPECT_EQ(devices[0], (RegisteredDevice{.id = "GPU-a", .index = 0, .split = 10, .memory_mebi = 24576}));
    EXPECT_EQ(devices[1].numa, 1);
    EXPECT_FALSE(devices[2].healthy) << "false is left out by those who write it";
}

TEST(NodeRegister, IndexesThatAreNotDistinctArePlaces) {
    const auto devices = hami_register(R"([{"id":"a","count":1,"health":true},{"id":"b","count":1,"health":true}])");
    EXPECT_EQ(devices[1].index, 1);
}

TEST(NodeRegister, WhatMakesNoSenseIsSaid) {
    EXPECT_EQ(register_fault(""), "is empty");
    EXPECT_EQ(register_fault(" : ::"), "lists no device");
    EXPECT_EQ(register_fault("[]"), "lists no device");
    EXPECT_EQ(register_fault("[{"), "is not valid JSON");
    EXPECT_EQ(register_fault("[1]"), "device 0: is no object");
    EXPECT_EQ(register_fault("GPU-a"), "device 0: has 1 fields, not 7 or more");
    EXPECT_EQ(register_fault(",10,1,100,T,0,true:"), "device 0: has no id");
    EXPECT_EQ(register_fault("a,1,1,100,T,0,true:a,1,1,100,T,0,true"), "lists device a twice");
    EXPECT_EQ(register_fault("a,x,1,100,T,0,true:"),
              "device 0: the number of shares \"x\" is no number from 0 to 1000000");
    EXPECT_EQ(register_fault("a,1,-1,100,T,0,true:"), "device 0: the memory \"-1\" is no number from 0 to 67108864");
    EXPECT_EQ(register_fault("a,1,99999999999999999999,100,T,0,true:"),
              "device 0: the memory \"99999999999999999999\" is no number from 0 to 67108864");
    EXPECT_EQ(register_fault("a,1,1,100,T,0,yes:"), "device 0: the health \"yes\" is neither true nor false");
    EXPECT_EQ(register_fault(R"([{"id":"a","count":18446744073709551615}])"),
              "device 0: count is no number from 0 to 1000000");
    EXPECT_EQ(register_fault(R"([{"id":"a","devmem":1.5}])"), "device 0: devmem is no number from 0 to 67108864");
    EXPECT_EQ(register_fault(R"([{"id":7}])"), "device 0: id is no text");
    EXPECT_EQ(register_fault(R"([{"id":"a","health":"true"}])"), "device 0: health is neither true nor false");
    EXPECT_EQ(register_fault(std::string(10000, '[')), "is not valid JSON");
}

TEST(VgpuHolds, ContainersAndDevices) {
    const auto holds = read_vgpu_holds("GPU-a,NVIDIA,3000,30:GPU-b,NVIDIA,3000,30:;;GPU-a,NVIDIA,500,0:;");
    ASSERT_TRUE(holds);
    EXPECT_EQ(*holds, (std::vector<VgpuHold>{{"GPU-a", 3000, 30}, {"GPU-b", 3000, 30}, {"GPU-a", 500, 0}}));
    EXPECT_TRUE(read_vgpu_holds("")->empty());
    EXPECT_TRUE(read_vgpu_holds(";;")->empty());
    EXPECT_EQ(read_vgpu_holds("GPU-a[2-0],NVIDIA,10,0:")->front().id, "GPU-a");
}

TEST(VgpuHolds, WhatMakesNoSenseIsSaid) {
    const auto wrong = [](std::string_view text) {
        const auto holds = read_vgpu_holds(text);
        return holds ? "" : holds.error().message;
    };
    EXPECT_EQ(wrong("GPU-a"), "\"GPU-a\": has fewer than 4 fields");
    EXPECT_EQ(wrong(",NVIDIA,1,1"), "\",NVIDIA,1,1\": names no device");
    EXPECT_EQ(wrong("a,NVIDIA,-1,1"), "\"a,NVIDIA,-1,1\": the memory \"-1\" is no number from 0 to 67108864");
    EXPECT_EQ(wrong("a,NVIDIA,1,1e9"), "\"a,NVIDIA,1,1e9\": the cores \"1e9\" is no number from 0 to 100000");
}

}  // namespace
}  // namespace reprieve
