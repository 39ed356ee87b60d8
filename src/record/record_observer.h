// RecordObserver: tells a Recorder what the loop takes in, decides and does.
//
// On the loop's thread, so it only copies; see Recorder for what becomes of it.
#pragma once

#include <string>

#include "loop/loop_observer.h"
#include "model/pod.h"
#include "record/recorder.h"

namespace reprieve {

// "Pod team/a", "PodGroup.scheduling.volcano.sh team/g", "Node n1". REQUIRES: the change carries its text.
[[nodiscard]] std::string record_key(const Change& change, const Vocabulary& words);

// Why there is a gap where a watch had to be begun anew.
[[nodiscard]] std::string missed_words(const std::string& kind);

class RecordObserver final : public LoopObserver {
public:
    // Both must outlive the observer; the words are those of the loop's cluster.
    RecordObserver(Recorder& recorder, const Vocabulary& words) : recorder_(recorder), words_(words) {}

    void on_change(const Change& change, const Cluster& cluster, Time now) override;
    void on_cycle(const CycleReport& report) override;
    void on_step(const SinkReport& report, Time now) override;
    void on_pulse() override;
    // For ClusterLink::on_missed.
    void on_missed(const std::string& kind, Time from, Time to);
    // For BeliefOptions::tell.
    void on_belief(const Pod& told, const Pod& believed);

private:
    static void note_victims(const CycleReport& report, CycleItem& item);

    Recorder& recorder_;
    const Vocabulary& words_;
    Time now_;
    bool ready_ = false;
    Time used_at_;                     // when the use of queues was last looked at,
    std::string use_;                  // and what was told of it
    std::set<std::string> laid_over_;  // pods that are believed to be other than they were told
};

}  // namespace reprieve
