// KnownPods: what is believed about the pods that a plan writes to: as last seen, or as written since.
//
// It exists so that nothing is written twice. The Source tells what it sees, the Sink what it is about to write; an
// event that is older than the write does not undo it. Pods about which there is nothing to remember are not kept, and
// those with a plan or a mark are found without looking at the others. Used from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/pod.h"
#include "model/vocabulary.h"

namespace reprieve {

struct KnownPod {
    std::string uid;        // empty: the pod has not been seen, or there was nothing to remember about it
    bool certain = true;    // false: a write failed, so that any of the rest may be out of date
    bool confirmed = true;  // false: written by us and not seen since
    bool bound = false;
    std::string nominated;  // node
    bool has_plan = false;  // reprieve.dev/plan
    std::string plan_node;
    std::vector<std::string> plan_victims;
    bool marked = false;  // DisruptionTarget
    Time deleting;
    std::int64_t grace_seconds = 30;
    std::optional<std::int64_t> deletion_cost;
    std::string claimed_by;
    bool softly_evicted = false;
    bool has_claims = false;  // for devices
};

// What else the text of a pod says, asked for only where it matters.
struct PodText {
    std::function<std::string()> version;  // resourceVersion
    std::function<bool()> has_our_mark;    // written by this scheduler, now or in an earlier life
};

class KnownPods {
public:
    void see(const Pod& pod, const Vocabulary& words, const PodText& text);
    void see_gone(const std::string& name);

    // The newest change of any pod that was seen; empty: none yet.
    void note_newest(std::uint64_t version);
    [[nodiscard]] std::string newest() const;

    // Nothing is remembered of a pod: the defaults.
    [[nodiscard]] KnownPod find(const std::string& name) const;

    // Whether the pod is there, has no node and is not leaving; `plan_node`, where it is not empty: and its plan is to
    // go there.
    [[nodiscard]] bool waits(const std::string& name, const std::string& uid, const std::string& plan_node) const;

    // Bound pods that still carry a plan, by name, with their UIDs; where a write is on its way they are left out.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> with_old_plans() const;

    // Pods that are marked as victims, are not leaving, and are named by a plan that is no more, or were marked in our
    // name by whoever acted before us; with their UIDs. `wanted` are victims all the same. Whoever was only
    // asked to go is spoken free by a plan, not by the want of one.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> with_old_marks(const std::set<std::string>& wanted);

    // Called, on whatever thread sees it, when a bound pod turns up that still carries a plan. Empty: nobody.
    void on_old_plan(std::function<void()> listener);

    // A write to a pod is on its way; `change` says what will be true then.
    void begin_write(const std::string& name, const std::string& uid, const std::function<void(KnownPod&)>& change);
    // How it ended. `version` is that of the object in the answer, empty where it gave none.
    void end_write(const std::string& name, const std::string& uid, bool ok, const std::string& version);
    // The answer was that this pod is gone: the watch may have said so before the write was entered, and will not
    // again.
    void forget_gone(const std::string& name, const std::string& uid);

    [[nodiscard]] std::size_t size() const;

private:
    static constexpr std::size_t kManyVictims = 10'000;

    struct Seen {
        KnownPod pod;
        std::uint64_t version = 0;
    };
    struct Entry {
        KnownPod pod;
        int writes = 0;                     // on their way
        std::uint64_t written_version = 0;  // events older than this are old news
        std::optional<Seen> meanwhile;      // while writes were on their way: may be from before or after them
        bool seen_bound = false;            // whatever became of our writes: nothing undoes it
    };
    [[nodiscard]] static bool is_bound(const Entry& entry);
    [[nodiscard]] static bool has_old_plan(const Entry& entry);
    using Entries = std::unordered_map<std::string, Entry>;
    // After every change of an entry: whether it has a plan or a mark.
    void file(const std::string& name, const KnownPod& pod);
    void drop(Entries::iterator entry);
    void note_victims(const KnownPod& pod);
    void note_mark(const KnownPod& seen, const Entry* before, const PodText& text);
    [[nodiscard]] std::unordered_set<std::string_view> live_victims() const;
    void forget_victims(const std::unordered_set<std::string_view>& live);
    void take_in(Entries::iterator entry, KnownPod seen);
    void tell_of_old_plan(const Entry& entry) const;

    mutable std::mutex mutex_;
    Entries entries_;                // by "ns/name"
    std::set<std::string> planned_;  // entries with a plan
    std::set<std::string> marked_;   // entries with a mark
    std::uint64_t newest_ = 0;       // resourceVersion
    std::function<void()> on_old_plan_;
    std::unordered_set<std::string> named_;  // UIDs in plans, now or before, and of pods that others marked in our name
    std::size_t most_named_ = kManyVictims;  // then it is time to forget some
};

}  // namespace reprieve
