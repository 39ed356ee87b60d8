// World: a small cluster in plain numbers, with every rule that a demand can be judged by.
//
// Nodes, running pods and one or two demands are values of this file alone: the generator draws them, manifests.h
// writes them as the engine reads them, and the judge solves them exhaustively. Nothing here knows the engine's model.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reprieve::worlds {

// Sets of pods and of nodes of a world, and of devices of a node: bit i stands for the i-th.
using Mask = std::uint32_t;
[[nodiscard]] constexpr Mask bit(int i) { return Mask{1} << static_cast<unsigned>(i); }
[[nodiscard]] constexpr bool has(Mask set, int i) { return (set & bit(i)) != 0; }

// When the worlds begin: 2026-01-01T00:00:00Z, in seconds.
inline constexpr std::int64_t kBegin = 1767225600;
// When they are decided, in seconds after that.
inline constexpr int kNow = 43200;

// What a world may be drawn with; the table of results has a line for each.
enum class Rule : std::uint8_t {
    kHostAffinity,
    kZoneAffinity,
    kMutualAffinity,
    kHostAntiAffinity,
    kZoneAntiAffinity,
    kHostSpread,
    kZoneSpread,
    kPorts,
    kDevices,
    kDeviceGroups,
    kShares,
    kVolumes,
    kStrictBudgets,
    kBudgets,
    kGangVictims,
    kOwnPriorities,
    kQueueLimits,
    kTopology,
    kTwoDemands,
    kDeviceClaims,
    kSharedClaims,
    kLeaving,
    kPools,
    kPartlyRunning,
    kShortSearch,
    kOtherCosts,
    kManyNodes,
    kAlikeNodes,
    kForeignFilters,
};
inline constexpr int kRules = 29;
[[nodiscard]] const char* to_text(Rule rule);

// The label that says where a rule looks: every node is a host of its own, most are in a zone.
enum class Level : std::uint8_t { kHost, kZone };

// A required term of pod affinity, or of anti-affinity, to pods with that label.
struct Near {
    bool anti = false;
    Level level = Level::kHost;
    int app = 0;
    friend bool operator==(const Near&, const Near&) = default;
};

// A hard constraint of topology spread over pods with that label.
struct Spread {
    Level level = Level::kHost;
    int max_skew = 1;
    int min_domains = 0;  // 0: not written
    int app = 0;
    bool any_pool = false;      // nodeAffinityPolicy: Ignore
    bool heeds_taints = false;  // nodeTaintsPolicy: Honor
    friend bool operator==(const Spread&, const Spread&) = default;
};

// What a pod asks for and is, apart from its name and place: pods with equal traits are interchangeable.
struct Traits {
    int app = 0;  // label `app`
    int cpu = 1;
    int memory = 0;  // GiB; 0: not asked for
    int gpus = 0;    // whole devices
    bool same_group = false;
    int gpu_milli = 0;     // a share of one device
    int gpu_memory = 0;    // the same in GiB; a world draws one kind of share, or HAMi's, which have both
    bool counted = false;  // HAMi: the share also counts as one of the node's number
    int priority = 0;
    int port = 0;    // host port; 0: none
    int claim = -1;  // volume claim
    int queue = -1;  // -1: none named
    int pool = -1;   // of nodes that it selects; -1: any
    bool tolerates = false;
    std::vector<Near> near;
    std::vector<Spread> spreads;
    friend bool operator==(const Traits&, const Traits&) = default;

    [[nodiscard]] bool wants_device() const { return gpus > 0 || gpu_milli > 0 || gpu_memory > 0; }
};

struct WorldPod {
    std::string name;
    Traits traits;
    int node = -1;           // -1: it waits
    Mask devices = 0;        // held; of a share one
    bool unwritten = false;  // which devices it holds is written nowhere
    std::string user_of;     // the pod whose claim it uses as well; it has no devices but those
    int gang = -1;
    int start = 0;  // seconds after the world began
    bool is_protected = false;
    bool leaves = false;  // terminating: still there, and no victim any more
};

// How the pods of a group may be taken: Volcano's rule (surplus, else whole), or a core group's disruption mode.
enum class GangKind : std::uint8_t { kVolcano, kCoreAll, kCoreSingle };

// What all members must share: nothing, a rack (HyperNode of tier 1), or a zone (a core group's topology key).
enum class Together : std::uint8_t { kAnywhere, kRack, kZone };

struct WorldGang {
    std::string name;
    int min = 1;
    GangKind kind = GangKind::kVolcano;
    std::optional<int> priority;  // of its PriorityClass
    Together together = Together::kAnywhere;
};

struct WorldNode {
    std::string name;
    int zone = 0;  // -1: in no zone
    int rack = 0;
    int cpu = 4;
    int memory = 0;
    int pods = 110;
    int devices = 0;
    int group_size = 2;     // devices of one NVLink group stand side by side
    bool describes = true;  // its devices are annotated; else one group without memory
    int places = 0;         // HAMi registers its devices, with so many sharers each at most; 0: it does not
    Mask failing = 0;       // devices on which the selectors of claims fail
    int units = 0;          // of the card that its devices are parts of; 0: each is a card of its own
    Mask large = 0;         // parts that take two units, not one
    int pool = 0;
    bool tainted = false;
    bool cordoned = false;
    // Which device a claim gets depends on the order in which they are asked, and not only on how many are free.
    [[nodiscard]] bool order_matters() const { return failing != 0 || units > 0; }
    [[nodiscard]] int units_of(Mask parts) const { return std::popcount(parts) + std::popcount(parts & large); }
};
inline constexpr int kDeviceMemory = 8;  // GiB

struct WorldBudget {
    int app = 0;
    int allowed = 0;
};

struct WorldClaim {
    bool one_pod = false;  // ReadWriteOncePod
    int node = -1;         // of a local volume; -1: reachable from everywhere
};

struct WorldQueue {
    int parent = -1;
    int cpu_limit = 0;  // 0: none
};

// Rules that the filters of the worlds do not tell a second time (foreign.h): bits of World::foreign.
inline constexpr unsigned kNamespaces = 1;
inline constexpr unsigned kPortAddresses = 2;
inline constexpr unsigned kLabelKeys = 4;
inline constexpr unsigned kAttachments = 8;
inline constexpr unsigned kWaitingVolumes = 16;
inline constexpr unsigned kNodeExpressions = 32;
inline constexpr int kForeignKinds = 6;

struct World {
    std::uint64_t number = 0;
    std::vector<Rule> rules;
    std::vector<WorldNode> nodes;
    std::vector<WorldPod> pods;
    std::vector<WorldGang> gangs;
    std::vector<WorldBudget> budgets;
    std::vector<WorldClaim> claims;
    std::vector<WorldQueue> queues;
    bool strict_budgets = false;
    bool cross_queue = false;
    // Whole devices are handed out by ResourceClaim: each pod has a claim of its own, from a template; or they are an
    // extended resource that a DeviceClass stands behind.
    bool by_claim = false;
    bool by_extended_resource = false;
    bool by_network = false;        // the devices are the same for all nodes
    std::vector<std::string> cost;  // the order of terms; empty: each action's own
    // What a search may be cut short by; then nothing need be found, and what is claimed must still be true.
    int budget = 0;        // microseconds; 0: the default
    bool literal = false;  // improve: false
    int max_domains = 0;   // 0: the default
    // So many nodes more on which nobody fits, and which no rule speaks of: what a search leaves out on many nodes it
    // must not leave out here. On some of them a pod that may not go takes all the room.
    int idle_nodes = 0;
    unsigned foreign = 0;

    [[nodiscard]] const WorldPod& pod(int p) const { return pods[static_cast<std::size_t>(p)]; }
    [[nodiscard]] const WorldNode& node(int n) const { return nodes[static_cast<std::size_t>(n)]; }
    [[nodiscard]] const WorldGang& gang(int g) const { return gangs[static_cast<std::size_t>(g)]; }
    [[nodiscard]] int pod_count() const { return static_cast<int>(pods.size()); }
    [[nodiscard]] int node_count() const { return static_cast<int>(nodes.size()); }
    [[nodiscard]] Mask all_nodes() const { return bit(node_count()) - 1; }
    [[nodiscard]] bool drawn_with(Rule rule) const;
};

// The pod whose claim the running pod uses: its own name, or that of the one it shares with; empty: no claim.
[[nodiscard]] std::string claim_of(const World& world, const WorldPod& pod);

// The members of a gang that run.
[[nodiscard]] Mask members_running(const World& world, int gang);

// Somebody who wants room: a pending pod by itself, or a gang of pending pods.
struct WorldDemand {
    std::string name;       // "default/x"
    int gang = -1;          // -1: one pod
    std::vector<int> pods;  // all that wait; of a gang at least `min` must be placed
    int min = 1;            // that are missing
    int priority = 0;
};
// In the order in which a cycle serves them.
[[nodiscard]] std::vector<WorldDemand> demands_of(const World& world);
// The sets of nodes of which the demand's pods may use one: each node for a pod, the domains of a gang; of one whose
// members run already the domains that hold these, but for those that are gone.
[[nodiscard]] std::vector<Mask> sites_of(const World& world, const WorldDemand& demand, Mask gone);

// A world is told by its number alone.
[[nodiscard]] World draw_world(std::uint64_t number);

}  // namespace reprieve::worlds
