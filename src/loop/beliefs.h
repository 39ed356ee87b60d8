// Beliefs: what the loop takes for true of pods beyond the last word of the watch, as overlays on the facts it feeds to
// the Cluster.
//
//   - What a plan does is assumed at once. Where a pod goes (bound, nominated) and that it leaves (evicted, asked to
//   go)
//     are two assumptions: a victim whose own binding is still under way holds its room and leaves it, so that nobody
//     is bound there before it has been seen to go. Each stands until the watch confirms it or the Sink says that it
//     failed. No clock ends it before the Sink has said anything: a write may wait in a long queue. Once the Sink has
//     said that it is done, the watch has a while to show it; then the last word of the watch counts again. A binding
//     does not run out even then: it ends when the pod is seen on its node or gone, or when the Sink is sure that it
//     failed. (Where the Sink cannot tell, it stands for as long as the API server could still carry it out.)
//   - A pod with a recorded intent (reprieve.dev/plan) but no nomination is one whose scheduler died in between: it
//     counts as nominated there.
//   - A victim that should be gone by now is stuck: it counts as staying, so that whoever waits for it plans anew; the
//     room that other victims have left or are leaving stays paid for. Only a deletion that was watched makes a victim
//     overdue: one whose deletion is still to be asked for has not begun to leave.
//   - A pod of another scheduler that is nominated to a node holds its room there, as if it were bound: whoever evicted
//     for it is not to find the room taken.
//   - A pod that names a group which nobody has seen may be faster than its group: for a moment it is not seen either,
//     so that no member starts, or has others evicted, by itself.
//   - A pod with which something failed is left alone for a while: one that waits is not seen, one that runs is not
//     taken. A pod for which a plan failed the audit is set aside in the same way, and is told so.
//
// Nothing in here has to survive: all of it follows from the objects and the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "loop/claim_beliefs.h"
#include "model/world.h"
#include "state/cluster.h"

namespace reprieve {

struct BeliefOptions {
    Duration patience{std::int64_t{60} * 1'000'000};       // beyond the deletion timestamp of a victim
    Duration confirmation{std::int64_t{120} * 1'000'000};  // how long after its write an assumption stands unseen
    Duration group_delay{std::int64_t{2} * 1'000'000};     // how much later than its pods a group may be heard of
    // Told whenever a pod may be believed to be other than it was told; for records.
    std::function<void(const Pod& told, const Pod& believed)> tell;
};

class Beliefs {
public:
    Beliefs(Cluster& cluster, BeliefOptions options) : cluster_(cluster), options_(options), claims_(cluster) {}

    // A fact from the watch. True: something that decisions depend on is different now.
    bool take(Change change, Time now);
    // The plan is being carried out.
    void assume(const Plan& plan, Time now);
    // A plan for this pod broke a rule: it waits for a while, longer each time, and `why` is what people are told.
    void set_aside(PodId id, std::string why, Time now);
    // How a step of it ended. True: something assumed was undone.
    bool hear(const SinkReport& report, Time now);
    // What follows from the clock alone. True: something is different now.
    bool review(Time now);
    // When there may be something to review; not set: never.
    [[nodiscard]] Time next_review() const { return due_; }

    [[nodiscard]] std::size_t assumptions() const;
    // Marks the words that are named in here.
    void mark(WordMarks& marks) const;

private:
    enum class Place : std::uint8_t { kAsWatched, kBound, kNominated, kNotNominated };
    enum class Leave : std::uint8_t { kAsWatched, kLeaving, kAsked };

    struct Entry {
        Pod watched;
        Digest digest;
        Place place = Place::kAsWatched;
        StringId node;                    // bound or nominated to
        std::vector<DeviceHold> devices;  // bound with
        std::optional<PlanNote> note;     // nominated with
        Time place_expires;               // not set: it does not, or not yet
        Leave leave = Leave::kAsWatched;
        Time leaving;        // the deletion timestamp to come
        std::string asked;   // to leave, softly: what is written about it
        Time leave_expires;  // not set: the Sink has not said yet that it is done
        Time group_due;      // until then its group may still turn up
        int failures = 0;    // in a row
        Time left_alone;     // until then
        std::string hold;    // while it is left alone: why it waits, for people
    };

    bool take_pod(Pod pod, Digest digest, Time now);
    Entry& entry_of(PodId id);
    bool believe(Entry& entry, Time now);
    // Not `answered`: the Sink may have nothing to write and nothing to say.
    void assume_place(const std::string& pod, Place what, StringId node, bool answered, Time now);
    void assume_leave(const std::string& pod, Leave what, std::string asked, Time now);
    // Forgets assumptions that the watch has confirmed.
    static void confirm(Entry& entry);
    // The step is done: from now on the watch is expected to show it.
    void expect(Entry& entry, const SinkReport& report, Time now);
    // Forgets the assumption that the failed step was to bring about.
    void undo(Entry& entry, const SinkReport& report, Time now);
    static void overlay(const Entry& entry, Pod& pod);
    [[nodiscard]] static bool assumes(const Entry& entry) {
        return entry.place != Place::kAsWatched || entry.leave != Leave::kAsWatched;
    }
    [[nodiscard]] bool stuck(const Pod& watched, Time now) const;
    // It names a group that is not known, and could start by itself.
    [[nodiscard]] bool lacks_group(const Pod& pod) const;
    // Whoever was faster than this group.
    void release_members(StringId ns, StringId group, Time now);
    [[nodiscard]] static bool remarkable(const Entry& entry, Time now);
    // When the clock alone changes what is believed of the pod; not set: never.
    [[nodiscard]] Time due(const Entry& entry, Time now) const;
    void note_due(const Entry& entry, Time now);

    Cluster& cluster_;
    BeliefOptions options_;
    std::map<std::string, Entry> entries_;  // of pods about which there is something to remember; by "ns/name"
    std::set<std::string> overdue_;         // UIDs of victims whose plan's deadline has passed
    std::map<std::pair<StringId, StringId>, std::vector<std::string>> early_;  // pods, by their group that is not known
    Time early_until_;                                                         // then it waits for none of them
    ClaimBeliefs claims_;
    Time due_;  // no review before this changes anything
};

}  // namespace reprieve
