#include "audit/test_world.h"

namespace reprieve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two nodes in two zones; a claim bound to a volume in zone a.
class AuditVolumes : public testing::Test {
protected:
    void SetUp() override {
        world.node("n1", {.labels = {{"topology.kubernetes.io/zone", "a"}}});
        world.node("n2", {.labels = {{"topology.kubernetes.io/zone", "b"}}});
    }
    void claim(const std::string& name, const std::string& volume, AccessMode mode = AccessMode::kReadWriteOnce) {
        VolumeClaim made;
        made.ns = world.id("default");
        made.name = world.id(name);
        if (!volume.empty()) made.volume = world.id(volume);
        made.storage_class = world.id("standard");
        made.storage_class_written = true;
        made.modes = {mode};
        world.add(made);
    }
    void volume(const std::string& name, const std::function<void(PersistentVolume&)>& edit = {}) {
        PersistentVolume made;
        made.name = world.id(name);
        made.storage_class = world.id("standard");
        made.modes = {AccessMode::kReadWriteOnce};
        if (edit) edit(made);
        world.add(made);
    }
    std::function<void(PodSpec&)> uses(const std::string& name) {
        return [=, this](PodSpec& spec) { spec.volumes = {{VolumeKind::kClaim, world.id(name), false}}; };
    }
    void expect_on(const char* node, const std::vector<std::string>& rules) {
        for (Placement& item : world.plan.placements)
            item.node = node;
        EXPECT_EQ(world.found(), rules) << node;
    }
    TestWorld world;
};

TEST_F(AuditVolumes, AClaimMustExist) {
    world.pod("new", {.spec = uses("missing")});
    world.place("new", "n1");
    EXPECT_THAT(world.found(), ElementsAre("VolumeBinding default/new", "VolumeRestrictions default/new"));
}

TEST_F(AuditVolumes, ABoundVolumeMustBeInReach) {
    volume("pv", [&](PersistentVolume& pv) {
        pv.node_affinity_required = true;
        pv.node_terms = {{{world.is("topology.kubernetes.io/zone", "a")}, {}}};
    });
    claim("data", "pv");
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    expect_on("n1", {});
    expect_on("n2", {"VolumeBinding default/new"});
}

TEST_F(AuditVolumes, AnUnboundClaimMustFindAVolumeOrAProvisioner) {
    StorageClass standard{world.id("standard"), world.id("kubernetes.io/no-provisioner"), true, false, {}};
    world.add(standard);
    claim("data", "");
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    expect_on("n1", {"VolumeBinding default/new"});
    volume("pv", [&](PersistentVolume& pv) {
        pv.node_affinity_required = true;
        pv.node_terms = {{{world.is("topology.kubernetes.io/zone", "b")}, {}}};
    });
    expect_on("n1", {"VolumeBinding default/new"});
    expect_on("n2", {});
}

TEST_F(AuditVolumes, EveryWaitingClaimHasAVolumeOfItsOwn) {
    world.add(StorageClass{world.id("standard"), world.id("kubernetes.io/no-provisioner"), true, false, {}});
    claim("first", "");
    claim("second", "");
    volume("everywhere");
    world.pod("one", {.spec = uses("first")});
    world.pod("two", {.spec = uses("second")});
    world.place("one", "n1");
    world.place("two", "n1");
    EXPECT_EQ(world.found().size(), 1U);
    // Whoever chose first: it is enough that there is a way.
    volume("in-a", [&](PersistentVolume& pv) {
        pv.node_affinity_required = true;
        pv.node_terms = {{{world.is("topology.kubernetes.io/zone", "a")}, {}}};
    });
    expect_on("n1", {});
    world.plan.placements[0].node = "n2";
    EXPECT_THAT(world.found(), IsEmpty());
    for (Placement& item : world.plan.placements)
        item.node = "n2";
    EXPECT_EQ(world.found().size(), 1U);
}

TEST_F(AuditVolumes, PodsOfOneWaitingClaimMeetAtItsVolume) {
    world.add(StorageClass{world.id("standard"), world.id("disk.example.com"), true, false, {}});
    claim("data", "");
    world.pod("one", {.spec = uses("data")});
    world.pod("two", {.spec = uses("data")});
    world.place("one", "n1");
    world.place("two", "n1");
    EXPECT_THAT(world.found(), IsEmpty());
    world.plan.placements[1].node = "n2";
    EXPECT_THAT(world.found(), ElementsAre("VolumeBinding default/one"));
}

TEST_F(AuditVolumes, AClaimThatIsBeingDeletedIsForNobody) {
    volume("pv");
    VolumeClaim going;
    going.ns = world.id("default");
    going.name = world.id("data");
    going.volume = world.id("pv");
    going.deleting = true;
    world.add(going);
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    expect_on("n1", {"VolumeBinding default/new"});
}

TEST_F(AuditVolumes, AnImmediateClaimMustBeBound) {
    world.add(StorageClass{world.id("standard"), world.id("disk.example.com"), false, false, {}});
    claim("data", "");
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    EXPECT_THAT(world.found(), ElementsAre("VolumeBinding default/new"));
}

TEST_F(AuditVolumes, AVolumeStaysInItsZone) {
    volume("pv", [&](PersistentVolume& pv) { pv.labels = world.labels({{"topology.kubernetes.io/zone", "c__a"}}); });
    claim("data", "pv");
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    expect_on("n1", {});
    expect_on("n2", {"VolumeZone default/new"});
}

TEST_F(AuditVolumes, AClaimForOnePodHasOneUser) {
    volume("pv");
    claim("data", "pv", AccessMode::kReadWriteOncePod);
    world.pod("user", {.node = "n2", .priority = -1, .spec = uses("data")});
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n1");
    expect_on("n1", {"VolumeRestrictions default/new"});
    // Wherever the user runs, its eviction frees the claim.
    world.plan.placements[0].after_evictions = true;
    world.evict("user", "n2", "new");
    expect_on("n1", {});
}

TEST_F(AuditVolumes, ADiskIsSharedByReadersOnly) {
    const auto disk = [&](bool read_only) {
        return [&world = world, read_only](PodSpec& spec) {
            spec.volumes = {{VolumeKind::kGcePersistentDisk, world.id("disk"), read_only}};
        };
    };
    world.pod("reader", {.node = "n1", .spec = disk(true)});
    world.pod("writer", {.node = "n2", .spec = disk(false)});
    world.pod("new", {.spec = disk(true)});
    world.place("new", "n1");
    expect_on("n1", {});
    expect_on("n2", {"VolumeRestrictions default/new"});
}

TEST_F(AuditVolumes, ANodeAttachesOnlySoManyVolumes) {
    for (const char* name : {"v1", "v2", "v3"}) {
        volume(name, [&](PersistentVolume& pv) { pv.csi_driver = world.id("csi.example.com"); });
        claim(std::string("claim-") + name, name);
    }
    world.add(CsiNode{world.id("n1"), {{world.id("csi.example.com"), 2}}});
    world.pod("there", {.node = "n1", .spec = uses("claim-v1")});
    world.pod("same", {.spec = uses("claim-v1")});
    world.pod("second", {.spec = uses("claim-v2")});
    world.pod("third", {.spec = uses("claim-v3")});
    world.place("same", "n1");
    world.place("second", "n1");
    world.place("third", "n2");
    EXPECT_THAT(world.found(), IsEmpty());
    expect_on("n1", {"NodeVolumeLimits default/second", "NodeVolumeLimits default/third"});
}

TEST_F(AuditVolumes, AProvisionerMayServeSomeZonesOnly) {
    StorageClass standard{world.id("standard"), world.id("disk.example.com"), true, true, {}};
    standard.allowed_topologies = {{{world.is("topology.kubernetes.io/zone", "b")}, {}}};
    world.add(standard);
    VolumeClaim claimed;
    claimed.ns = world.id("default");
    claimed.name = world.id("data");
    world.add(claimed);
    world.pod("new", {.spec = uses("data")});
    world.place("new", "n2");
    expect_on("n2", {});
    expect_on("n1", {"VolumeBinding default/new"});
}

}  // namespace
}  // namespace reprieve
