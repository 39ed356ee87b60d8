#include "filters.h"

#include <algorithm>
#include <map>

namespace reprieve::worlds {
namespace {

constexpr int kNoDomain = -1;

class Question {
public:
    Question(const World& world, const Places& places, int pod, int node)
        : world_(world),
          places_(places),
          traits_(world.pods[static_cast<std::size_t>(pod)].traits),
          node_(node) {}

    [[nodiscard]] Answer answer() const {
        if (traits_.cpu > node().cpu) return Answer::kNever;
        for (const Spread& spread : traits_.spreads) {
            if (domain(spread.level, node_) == kNoDomain) return Answer::kNever;
        }
        if (!near_those_it_needs()) return Answer::kNever;
        const bool yes =
            has_room() && port_is_free() && far_from_others() && others_keep_no_distance() && spreads_well();
        return yes ? Answer::kYes : Answer::kNotNow;
    }

private:
    [[nodiscard]] const WorldNode& node() const { return world_.nodes[static_cast<std::size_t>(node_)]; }
    [[nodiscard]] int domain(Level level, int node) const {
        return level == Level::kHost ? node : world_.nodes[static_cast<std::size_t>(node)].zone;
    }
    [[nodiscard]] bool same_domain(Level level, int other) const {
        return domain(level, node_) != kNoDomain && domain(level, node_) == domain(level, other);
    }
    // Calls with traits and node of everybody who is somewhere.
    template <class F>
    void each(F&& f) const {
        for (std::size_t p = 0; p < places_.size(); ++p) {
            if (places_[p] >= 0) f(world_.pods[p].traits, places_[p]);
        }
    }

    [[nodiscard]] bool has_room() const {
        int cpu = traits_.cpu;
        int pods = 1;
        each([&](const Traits& other, int where) {
            if (where != node_) return;
            cpu += other.cpu;
            ++pods;
        });
        return cpu <= node().cpu && pods <= node().pods;
    }

    [[nodiscard]] bool port_is_free() const {
        bool free = true;
        each([&](const Traits& other, int where) {
            if (traits_.port != 0 && where == node_ && other.port == traits_.port) free = false;
        });
        return free;
    }

    // A worlds' pod has at most one term of affinity, so "all terms" and "any term" are the same.
    [[nodiscard]] bool near_those_it_needs() const {
        for (const Near& near : traits_.near) {
            if (near.anti) continue;
            if (domain(near.level, node_) == kNoDomain) return false;
            bool here = false;
            bool anywhere = false;
            each([&](const Traits& other, int where) {
                if (other.app != near.app) return;
                anywhere = anywhere || domain(near.level, where) != kNoDomain;
                here = here || same_domain(near.level, where);
            });
            // The first of its kind may go anywhere.
            if (!here && (anywhere || traits_.app != near.app)) return false;
        }
        return true;
    }

    [[nodiscard]] bool far_from_others() const {
        bool far = true;
        for (const Near& near : traits_.near) {
            if (!near.anti) continue;
            each([&](const Traits& other, int where) {
                if (other.app == near.app && same_domain(near.level, where)) far = false;
            });
        }
        return far;
    }

    [[nodiscard]] bool others_keep_no_distance() const {
        bool none = true;
        each([&](const Traits& other, int where) {
            for (const Near& near : other.near) {
                if (near.anti && near.app == traits_.app && same_domain(near.level, where)) none = false;
            }
        });
        return none;
    }

    // Only nodes that have the labels of all constraints count.
    [[nodiscard]] bool counts(int node) const {
        return std::ranges::all_of(traits_.spreads,
                                   [&](const Spread& s) { return domain(s.level, node) != kNoDomain; });
    }

    [[nodiscard]] bool spreads_well() const {
        for (const Spread& spread : traits_.spreads) {
            std::map<int, int> matches;
            for (int n = 0; n < static_cast<int>(world_.nodes.size()); ++n) {
                if (counts(n)) matches[domain(spread.level, n)];
            }
            each([&](const Traits& other, int where) {
                if (other.app == spread.app && counts(where)) ++matches[domain(spread.level, where)];
            });
            int least = std::ranges::min_element(matches, {}, &std::pair<const int, int>::second)->second;
            if (static_cast<int>(matches.size()) < spread.min_domains) least = 0;
            const int self = traits_.app == spread.app ? 1 : 0;
            if (matches[domain(spread.level, node_)] + self - least > spread.max_skew) return false;
        }
        return true;
    }

    const World& world_;
    const Places& places_;
    const Traits& traits_;
    int node_;
};

}  // namespace

Places places_of(const World& world) {
    Places out;
    for (const WorldPod& pod : world.pods)
        out.push_back(pod.node);
    return out;
}

Answer ask(const World& world, const Places& places, int pod, int node) {
    return Question(world, places, pod, node).answer();
}

}  // namespace reprieve::worlds
