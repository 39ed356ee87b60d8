// Beliefs: what the loop takes for true of pods beyond the last word of the watch, as overlays on the facts it feeds to
// the Cluster.
//
//   - What a plan does is assumed at once: bound, evicted, nominated. It stands until the watch confirms it, the Sink
//     says that it failed, or nobody has confirmed it for too long; then the last word of the watch counts again.
//   - A pod with a recorded intent (reprieve.dev/plan) but no nomination is one whose scheduler died in between: it
//     counts as nominated there.
//   - A victim that should be gone by now is stuck: it counts as staying, so that whoever waits for it plans anew; the
//     room that other victims have left or are leaving stays paid for.
//   - A pod that names a group which nobody has seen may be faster than its group: for a moment it is not seen either,
//     so that no member starts, or has others evicted, by itself.
//   - A pod with which something failed is left alone for a while: one that waits is not seen, one that runs is not
//     taken.
//
// Nothing in here has to survive: all of it follows from the objects and the clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve {

struct BeliefOptions {
    Duration patience{std::int64_t{60} * 1'000'000};       // beyond the deletion timestamp of a victim
    Duration confirmation{std::int64_t{120} * 1'000'000};  // how long an assumption stands by itself
    Duration group_delay{std::int64_t{2} * 1'000'000};     // how much later than its pods a group may be heard of
};

class Beliefs {
public:
    Beliefs(Cluster& cluster, BeliefOptions options) : cluster_(cluster), options_(options) {}

    // A fact from the watch. True: something that decisions depend on is different now.
    bool take(Change change, Time now);
    // The plan is being carried out.
    void assume(const Plan& plan, Time now);
    // How a step of it ended. True: something assumed was undone.
    bool hear(const SinkReport& report, Time now);
    // What follows from the clock alone. True: something is different now.
    bool review(Time now);
    // When there may be something to review; not set: never.
    [[nodiscard]] Time next_review() const { return due_; }

    [[nodiscard]] std::size_t assumptions() const;

private:
    enum class Assumed : std::uint8_t { kNothing, kBound, kLeaving, kAsked, kNominated, kNotNominated };

    struct Entry {
        Pod watched;
        Digest digest;
        Assumed assumed = Assumed::kNothing;
        StringId node;                    // bound or nominated to
        std::vector<DeviceHold> devices;  // bound with
        std::optional<PlanNote> note;     // nominated with
        Time leaving;                     // the deletion timestamp to come
        std::string asked;                // to leave, softly: what is written about it
        Time expires;
        Time group_due;    // until then its group may still turn up
        int failures = 0;  // in a row
        Time left_alone;   // until then
    };

    bool take_pod(Pod pod, Digest digest, Time now);
    Entry& entry_of(PodId id);
    bool believe(const std::string& name, Entry& entry, Time now);
    void assume(const std::string& pod, Assumed what, StringId node, Time now);
    [[nodiscard]] bool confirmed(const Entry& entry) const;
    void overlay(const Entry& entry, Pod& pod) const;
    [[nodiscard]] bool stuck(const Pod& pod, Time now) const;
    // It names a group that is not known, and could start by itself.
    [[nodiscard]] bool lacks_group(const Pod& pod) const;
    // Whoever was faster than its group.
    void release_members(Time now);
    [[nodiscard]] static bool remarkable(const Entry& entry, Time now);
    // When the clock alone changes what is believed of the pod; not set: never.
    [[nodiscard]] Time due(const Entry& entry, Time now) const;
    void note_due(const Entry& entry, Time now);

    Cluster& cluster_;
    BeliefOptions options_;
    std::map<std::string, Entry> entries_;  // of pods about which there is something to remember; by "ns/name"
    std::set<std::string> overdue_;         // UIDs of victims whose plan's deadline has passed
    Time due_;                              // no review before this changes anything
};

}  // namespace reprieve
