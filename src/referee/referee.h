// Referee: follows a cluster fact by fact, finds decisions to evict, and has them judged.
//
// Facts come as texts with their keys ("Pod team/a", "Event ns/x", "Workload.kueue.x-k8s.io ns/w"), from a watch or a
// record. A decision is open from the first sign of it (a mark, a nomination) until its victims have stopped coming;
// then the world is taken back, change by change, to the states in which it may have been made, and judged in each: a
// verdict against the scheduler that does not hold in all of them is `unclear`. So is every decision of a time in which
// changes were missed. Where the scheduler's Events say what else it decided before and in the same moment, that counts
// as done (beside.h). Whether a decision was wasted or repeated is known later.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"
#include "model/config.h"
#include "record/rebuild.h"
#include "referee/beside.h"
#include "referee/deeds.h"
#include "referee/marks.h"
#include "referee/report.h"

namespace reprieve {

struct RefereeOptions {
    bool reads_marks = true;             // false: only decisions that are told are judged
    SchedulerConfig config;              // yardsticks
    std::set<std::string> schedulers;    // empty: all
    Duration start_within{600'000'000};  // a beneficiary that has not started by then was not helped
    Duration quiet{5'000'000};           // after the last victim a decision is complete
    Duration blind{1'000'000};           // by so much what a scheduler had seen may be older than what we saw
    Duration blind_apart{5'000'000};     // the same of what is no pod: other kinds come by watches of their own
};

class Referee {
public:
    explicit Referee(RefereeOptions options);

    // An object as it is now; empty: it is gone. Returns what is wrong with it; such an object is left out.
    Result<void> see(Time at, const std::string& key, std::string_view json);
    // Changes between these moments were missed, or came late and in another order: nothing is said of decisions whose
    // signs came in this time, be it one of them.
    void note_gap(const RecordGap& gap);
    // A decision whose beneficiary, victims and moment are known: Reprieve's own, from a record.
    void add_own(Time at, const EvictionCase& what, const std::string& scheduler, Ruling ruling);
    // Time has passed: judges decisions that are complete.
    void look(Time now);
    // Nothing more comes: judges what is open; nothing is said against a decision of which signs may be missing.
    void finish(Time now);
    // Nothing is known of the time before: what is open is forgotten.
    void forget();

    // Pods that somebody evicts, or seems to, in decisions that are not judged yet.
    [[nodiscard]] std::size_t open() const { return evicted_.size(); }

    [[nodiscard]] Rebuild& world() { return world_; }
    [[nodiscard]] const SchedulerConfig& config() const { return options_.config; }
    [[nodiscard]] RefereeReport& report() { return report_; }

private:
    struct Undo {
        std::uint64_t seq = 0;  // of the change
        Time at;
        std::string key;
        std::optional<std::string> was;  // none: it was not there
        std::uint64_t version = 0;       // of a pod: the resourceVersion that it got; 0: it was taken away
    };
    // Whether a scheduler had seen a change when it decided.
    enum class Known : std::uint8_t { kYes, kNo, kPerhaps };
    struct Sighting {
        std::string name;  // "ns/name"
        std::string uid;
        std::string node;
        std::string nominated;
        std::string scheduler;
        std::string group;  // "ns/name" of its gang
        std::string owner;  // "ns/name" of its controller
        std::uint64_t version = 0;
        Time nominated_at;
        Time bound_at;
        Time started_at;
        bool leaving = false;
    };
    // A pod that somebody evicts, or seems to.
    struct Evicted {
        EvictionMark mark;
        bool marked = false;
        std::string uid;
        std::string node;
        std::string scheduler;
        Time at;                // the first sign
        std::uint64_t seq = 0;  // of the change that was the first sign, or of the next one
        Time left;              // when its deletion was seen; not set: it only carries a mark
        DecisionTime decided;   // as an Event says
        Time told;              // when that Event was seen
    };
    // The first sight of an intent to evict.
    struct FirstSign {
        std::string by;  // the pod for which: "ns/name"
        std::string by_uid;
        std::string plan;  // its id
        Time at;
        std::uint64_t seq = 0;
        std::uint64_t seen = 0;  // resourceVersion of the newest change of a pod that had been seen; 0: it is not said
    };
    struct Case {
        EvictionCase what;
        std::string scheduler;
        std::string confidence;
        Time at;
        std::uint64_t seq = 0;
        Time until;            // the last sign
        DecisionTime decided;  // not set: not known, or not the same for all of it
        std::uint64_t seen = 0;
        bool untold = false;   // whoever did it tells of it by Events, and has not told of all of it
        bool cut_off = false;  // more of it might have come
        Duration unwritten;    // bindings decided so much later count as done, too
    };

    void see_pod(Time at, const std::string& name, std::string_view json);
    void see_workload(Time at, const std::string& name, std::string_view json);
    void see_mark(Time at, const std::string& victim, const EvictionMark& mark);
    void see_event(Time at, std::string_view json);
    void see_intent(Time at, const Sighting& by, std::string_view note);
    // What else the same scheduler had decided by then, as far as the objects agree.
    [[nodiscard]] std::vector<OtherDeed> others_beside(const Case& one) const;
    [[nodiscard]] Evicted& evicted(Time at, const std::string& name);
    // Of the intent to evict it for this demand; null: none was seen in time.
    [[nodiscard]] const FirstSign* sign_of(const Evicted& one, const std::string& owner) const;
    // Whether more of its decision may come: other victims, or Events that say what else was decided.
    [[nodiscard]] bool is_open(const Evicted& one, const FirstSign* sign, Time now) const;
    // Who writes intents tells of everybody whom it binds; of somebody bound about then it has not yet.
    [[nodiscard]] bool waits_for_events(const Case& one, Time now) const;
    // A pod that is there, or was in the last minutes; null: none.
    [[nodiscard]] const Sighting* sighting(const std::string& name, const std::string& uid) const;
    template <class See>
    void each_sighting(See see) const;
    // Whom it was for, and how that is known.
    [[nodiscard]] std::pair<std::string, std::string> beneficiary(const Evicted& one) const;
    [[nodiscard]] std::set<std::string> nodes_of(const std::string& owner, Time since) const;
    void judge_complete(Time now, bool all);
    void judge_case(const Case& one);
    [[nodiscard]] Ruling rule_over_time(const Case& one);
    // When it was decided, as far as that is known.
    [[nodiscard]] static Time decided_at(const Case& one);
    // Of every change in `undo_`.
    [[nodiscard]] std::vector<Known> known_to(const Case& one, std::uint64_t first) const;
    [[nodiscard]] Result<Ruling> rule_in_all_states(const Case& one, std::map<std::string, std::string>& later);
    [[nodiscard]] const RecordGap* gap_between(Time from, Time to) const;
    [[nodiscard]] std::string group_of(const std::string& pod);
    void note_repeats(JudgedDecision& judged);
    [[nodiscard]] bool lost_its_room(const JudgedDecision& judged, const JudgedDecision& earlier);
    void judge_use(Time now);
    [[nodiscard]] Time started(const std::string& owner, Time since) const;

    RefereeOptions options_;
    Rebuild world_;
    RefereeReport report_;
    std::deque<Undo> undo_;                      // of the last minutes
    std::uint64_t seq_ = 0;                      // of the next change
    std::map<std::string, Sighting> pods_;       // that are there
    std::map<std::string, std::string> by_uid_;  // pods, gangs and Workloads: "ns/name"
    std::map<std::string, std::string> jobs_;    // by "ns/name" of a Workload: that of its job
    std::map<std::string, Evicted> evicted_;     // not judged yet
    std::set<std::string> told_;                 // UIDs that are judged
    std::deque<ToldDeed> deeds_;                 // of the last minutes, as they were told
    std::map<DecisionTime, std::uint64_t>
        signs_;  // of a decision: the change that was the first sign of any part of it
    std::map<std::string, std::vector<FirstSign>> intents_;  // by UID of a victim
    std::map<std::string, Sighting> former_;                 // pods that went in the last minutes, by UID
    std::deque<std::pair<Time, std::string>> former_uids_;   // in the order in which they went
    std::set<std::string> bound_told_;                       // UIDs of pods of which an Event says that they were bound
    std::deque<std::pair<Time, std::string>> gone_;  // UIDs of pods that are gone, for as long as they may be named
    std::vector<std::size_t> unproven_;              // verdicts whose use is not known yet
    Time now_;
};

}  // namespace reprieve
