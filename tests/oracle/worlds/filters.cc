#include "filters.h"

#include <algorithm>
#include <bit>
#include <map>

namespace reprieve::worlds {
namespace {

constexpr int kNoDomain = -1;

class Question {
public:
    Question(const World& world, const Places& places, int pod, int node)
        : world_(world),
          places_(places),
          traits_(world.pod(pod).traits),
          is_member_(world.pod(pod).gang >= 0),
          node_(node) {}

    [[nodiscard]] bool never() const {
        if (traits_.cpu > node().cpu || traits_.memory > node().memory) return true;
        if (node().cordoned || (node().tainted && !traits_.tolerates)) return true;
        if (traits_.pool >= 0 && traits_.pool != node().pool) return true;
        for (const Spread& spread : traits_.spreads) {
            if (domain(spread.level, node_) == kNoDomain) return true;
        }
        if (traits_.claim >= 0 && !reaches_its_volume()) return true;
        return (!near_those_it_needs() && !may_become_the_first()) || !devices_could_do();
    }

    [[nodiscard]] bool passes_with(Mask devices) const {
        return !never() && near_those_it_needs() && has_room() && port_is_free() && volume_is_free() &&
               far_from_others() && others_keep_no_distance() && spreads_well() && devices_are_free(devices) &&
               within_limits();
    }

    [[nodiscard]] bool devices_are_free(Mask devices) const {
        if (!traits_.wants_device()) return devices == 0;
        if (std::popcount(devices) != std::max(traits_.gpus, 1)) return false;
        if (traits_.same_group && !in_one_group(devices)) return false;
        for (int d = 0; d < 32; ++d) {
            if (has(devices, d) && !device_is_free(d)) return false;
        }
        // Members of a gang get their devices together: one may leave the first ones to another.
        if (node().units > 0) return is_member_ ? card_allows(devices) : are_first_of_card(devices);
        return node().failing == 0 || are_first_and_good(devices);
    }

private:
    [[nodiscard]] const WorldNode& node() const { return world_.node(node_); }
    [[nodiscard]] int domain(Level level, int node) const {
        return level == Level::kHost ? node : world_.node(node).zone;
    }
    [[nodiscard]] bool same_domain(Level level, int other) const {
        return domain(level, node_) != kNoDomain && domain(level, node_) == domain(level, other);
    }
    // Calls with traits and spot of everybody who is somewhere.
    template <class F>
    void each(F&& f) const {
        for (std::size_t p = 0; p < places_.size(); ++p) {
            if (places_[p].node >= 0) f(world_.pods[p].traits, places_[p]);
        }
    }

    [[nodiscard]] bool has_room() const {
        int cpu = traits_.cpu;
        int memory = traits_.memory;
        int pods = 1;
        each([&](const Traits& other, const Spot& spot) {
            if (spot.node != node_) return;
            cpu += other.cpu;
            memory += other.memory;
            ++pods;
        });
        return cpu <= node().cpu && (traits_.memory == 0 || memory <= node().memory) && pods <= node().pods;
    }

    [[nodiscard]] bool port_is_free() const {
        bool free = true;
        each([&](const Traits& other, const Spot& spot) {
            if (traits_.port != 0 && spot.node == node_ && other.port == traits_.port) free = false;
        });
        return free;
    }

    [[nodiscard]] bool reaches_its_volume() const {
        const int where = world_.claims[static_cast<std::size_t>(traits_.claim)].node;
        return where < 0 || where == node_;
    }

    [[nodiscard]] bool volume_is_free() const {
        if (traits_.claim < 0 || !world_.claims[static_cast<std::size_t>(traits_.claim)].one_pod) return true;
        bool free = true;
        each([&](const Traits& other, const Spot&) { free = free && other.claim != traits_.claim; });
        return free;
    }

    // A pod of a world has at most one term of affinity, so "all terms" and "any term" are the same.
    [[nodiscard]] bool near_those_it_needs() const {
        for (const Near& near : traits_.near) {
            if (near.anti) continue;
            if (domain(near.level, node_) == kNoDomain) return false;
            bool here = false;
            bool anywhere = false;
            each([&](const Traits& other, const Spot& spot) {
                if (other.app != near.app) return;
                anywhere = anywhere || domain(near.level, spot.node) != kNoDomain;
                here = here || same_domain(near.level, spot.node);
            });
            // The first of its kind may go anywhere.
            if (!here && (anywhere || traits_.app != near.app)) return false;
        }
        return true;
    }

    // Others keep it from being the first of its kind: they may go.
    [[nodiscard]] bool may_become_the_first() const {
        return std::ranges::all_of(traits_.near, [&](const Near& near) {
            return near.anti || (traits_.app == near.app && domain(near.level, node_) != kNoDomain);
        });
    }

    [[nodiscard]] bool far_from_others() const {
        bool far = true;
        for (const Near& near : traits_.near) {
            if (!near.anti) continue;
            each([&](const Traits& other, const Spot& spot) {
                if (other.app == near.app && same_domain(near.level, spot.node)) far = false;
            });
        }
        return far;
    }

    [[nodiscard]] bool others_keep_no_distance() const {
        bool none = true;
        each([&](const Traits& other, const Spot& spot) {
            for (const Near& near : other.near) {
                if (near.anti && near.app == traits_.app && same_domain(near.level, spot.node)) none = false;
            }
        });
        return none;
    }

    // Only nodes that have the labels of all constraints count, of these those that the policies let count.
    [[nodiscard]] bool counts(const Spread& spread, int n) const {
        const WorldNode& node = world_.node(n);
        if (!spread.any_pool && traits_.pool >= 0 && traits_.pool != node.pool) return false;
        if (spread.heeds_taints && node.tainted && !traits_.tolerates) return false;
        return std::ranges::all_of(traits_.spreads, [&](const Spread& s) { return domain(s.level, n) != kNoDomain; });
    }

    [[nodiscard]] bool spreads_well() const {
        for (const Spread& spread : traits_.spreads) {
            std::map<int, int> matches;
            for (int n = 0; n < world_.node_count(); ++n) {
                if (counts(spread, n)) matches[domain(spread.level, n)];
            }
            // Those that leave are not counted any more.
            for (std::size_t p = 0; p < places_.size(); ++p) {
                const int n = places_[p].node;
                const WorldPod& other = world_.pods[p];
                if (n < 0 || other.leaves || other.traits.app != spread.app || !counts(spread, n)) continue;
                ++matches[domain(spread.level, n)];
            }
            int least = std::ranges::min_element(matches, {}, &std::pair<const int, int>::second)->second;
            if (static_cast<int>(matches.size()) < spread.min_domains) least = 0;
            const int self = traits_.app == spread.app ? 1 : 0;
            if (matches[domain(spread.level, node_)] + self - least > spread.max_skew) return false;
        }
        return true;
    }

    [[nodiscard]] int group_of(int device) const { return node().describes ? device / node().group_size : 0; }

    [[nodiscard]] bool in_one_group(Mask devices) const {
        const int first = std::countr_zero(devices);
        for (int d = first; d < 32; ++d) {
            if (has(devices, d) && group_of(d) != group_of(first)) return false;
        }
        return true;
    }

    [[nodiscard]] bool devices_could_do() const {
        if (!traits_.wants_device()) return true;
        if (traits_.gpu_memory > (node().describes ? kDeviceMemory : 0)) return false;
        if (node().devices < std::max(traits_.gpus, 1)) return false;
        const int small = node().devices - std::popcount(node().large);
        if (node().units > 0 && traits_.gpus + std::max(0, traits_.gpus - small) > node().units) return false;
        if (!traits_.same_group || !node().describes) return true;
        return traits_.gpus <= std::min(node().group_size, node().devices);
    }

    // Idle for whoever wants all of it; a share goes beside other shares.
    [[nodiscard]] bool device_is_free(int device) const {
        if (device >= node().devices) return false;
        bool whole = false;
        bool shared = false;
        int sharers = 1;
        int milli = traits_.gpu_milli;
        int memory = traits_.gpu_memory;
        for (std::size_t p = 0; p < places_.size(); ++p) {
            const Spot& spot = places_[p];
            const int where = spot.node >= 0 ? spot.node : spot.ghost;
            if (where < 0 || (where != node_ && !world_.by_network) || !has(spot.devices, device)) continue;
            const Traits& other = world_.pods[p].traits;
            (other.gpus > 0 ? whole : shared) = true;
            ++sharers;
            milli += other.gpu_milli;
            memory += other.gpu_memory;
        }
        if (whole || (traits_.gpus > 0 && shared)) return false;
        // HAMi: places among the sharers, and all of the compute for one alone.
        if (traits_.counted && (sharers > node().places || (traits_.gpu_milli == 1000 && shared))) return false;
        return milli <= 1000 && (traits_.gpu_memory == 0 || memory <= kDeviceMemory);
    }

    // Free devices are asked in order until there are enough; the first that fails ends the attempt.
    [[nodiscard]] bool are_first_and_good(Mask devices) const {
        for (int d = 0; devices != 0; ++d) {
            if (!device_is_free(d)) continue;
            if (!has(devices, d) || has(node().failing, d)) return false;
            devices &= ~bit(d);
        }
        return true;
    }

    [[nodiscard]] bool card_allows(Mask devices) const {
        Mask parts = devices;
        for (const Spot& spot : places_) {
            if ((spot.node >= 0 ? spot.node : spot.ghost) == node_) parts |= spot.devices;
        }
        for (int d = 0; d < node().devices; ++d) {
            if (has(devices, d) && !device_is_free(d)) return false;
        }
        return node().units_of(parts) <= node().units;
    }

    // Parts are tried in order: of as many parts that are free and have their units, the first.
    [[nodiscard]] bool are_first_of_card(Mask devices) const {
        if (!card_allows(devices)) return false;
        for (Mask other = 1; other < bit(node().devices); ++other) {
            const Mask difference = other ^ devices;
            const bool before = difference != 0 && has(other, std::countr_zero(difference));
            if (std::popcount(other) == std::popcount(devices) && before && card_allows(other)) return false;
        }
        return true;
    }

    [[nodiscard]] bool is_below(int queue, int above) const {
        for (; queue >= 0; queue = world_.queues[static_cast<std::size_t>(queue)].parent) {
            if (queue == above) return true;
        }
        return false;
    }

    [[nodiscard]] bool within_limits() const {
        for (int q = traits_.queue; q >= 0; q = world_.queues[static_cast<std::size_t>(q)].parent) {
            const int limit = world_.queues[static_cast<std::size_t>(q)].cpu_limit;
            if (limit == 0) continue;
            int used = traits_.cpu;
            each([&](const Traits& other, const Spot&) { used += is_below(other.queue, q) ? other.cpu : 0; });
            if (used > limit) return false;
        }
        return true;
    }

    const World& world_;
    const Places& places_;
    const Traits& traits_;
    bool is_member_;
    int node_;
};

// The lowest devices of the pod's node that nobody holds.
Mask lowest_free(const World& world, const Places& places, int pod) {
    const WorldPod& holder = world.pod(pod);
    Mask held = 0;
    for (std::size_t p = 0; p < places.size(); ++p) {
        if (places[p].node == holder.node && static_cast<int>(p) != pod) held |= places[p].devices;
    }
    Mask out = 0;
    for (int d = 0; d < world.node(holder.node).devices && std::popcount(out) < holder.traits.gpus; ++d) {
        if (!has(held, d)) out |= bit(d);
    }
    return out;
}

}  // namespace

Places places_of(const World& world) {
    Places out;
    std::vector<int> unwritten;
    for (int p = 0; p < world.pod_count(); ++p) {
        const WorldPod& pod = world.pod(p);
        out.push_back({.node = pod.node, .devices = pod.unwritten ? 0 : pod.devices});
        if (pod.unwritten && pod.node >= 0) unwritten.push_back(p);
    }
    std::ranges::sort(unwritten, {}, [&](int p) { return std::pair(world.pod(p).start, world.pod(p).name); });
    for (int p : unwritten)
        out[static_cast<std::size_t>(p)].devices = lowest_free(world, out, p);
    return out;
}

Places places_later(const World& world) {
    Places out = places_of(world);
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (world.pods[p].leaves) out[p] = {};
    }
    return out;
}

bool says_never(const World& world, const Places& places, int pod, int node) {
    return Question(world, places, pod, node).never();
}

bool passes(const World& world, const Places& places, int pod, const Spot& spot) {
    return Question(world, places, pod, spot.node).passes_with(spot.devices);
}

std::vector<Mask> device_choices(const World& world, const Places& places, int pod, int node) {
    const Question question(world, places, pod, node);
    if (!world.pod(pod).traits.wants_device()) return {0};
    std::vector<Mask> out;
    for (Mask devices = 1; devices < bit(world.node(node).devices); ++devices) {
        if (question.devices_are_free(devices)) out.push_back(devices);
    }
    return out;
}

}  // namespace reprieve::worlds
