// RecordSource: moments that a record kept.
//
// A moment is the last cycle at or before a time, as that cycle saw the world: the cluster is built again from the
// nearest keyframe and the changes since, the plan is the one that was written down. A few moments are kept, because a
// reader moves to and fro. What nobody recorded is a gap, and the slider shows it.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "record/reader.h"
#include "record/rebuild.h"
#include "window/facts_json.h"
#include "window/moment.h"
#include "window/receipt.h"

namespace reprieve::window {

class RecordSource final : public MomentSource {
public:
    // The record may grow while it is read: it is opened again from `path` from time to time.
    RecordSource(std::unique_ptr<RecordReader> reader, Origin origin, std::string path);
    ~RecordSource() override;

    Result<std::shared_ptr<const Moment>> moment(std::optional<Time> at) override;
    Result<std::string> ask(std::optional<Time> at, const Question& question) override;
    Result<std::string> ask_about(const DecisionEntry& entry, const Question& question) override;
    Result<std::string> receipt(const DecisionEntry& entry) override;
    Result<std::string> room(std::optional<Time> at) override;
    Result<std::string> lifelines(std::optional<Time> at, const std::string& queue) override;
    std::optional<Extent> extent() override;
    std::int64_t newest(std::int64_t seen, std::chrono::milliseconds wait) override;
    [[nodiscard]] std::string kind() const override { return "record"; }
    // The cycle in which a running loop took this decision, as the record numbers it; none: it is not written yet.
    [[nodiscard]] std::optional<std::int64_t> cycle_of(const DecisionEntry& entry);

private:
    // The world of one cycle.
    struct Scenery {
        RecordedCycle cycle;
        std::unique_ptr<Rebuild> rebuilt;
        SchedulerConfig config;
        Plan plan;
        std::shared_ptr<const Moment> moment;
    };

    struct Deeds;

    // REQUIRES: the lock is held.
    void look_again();
    // REQUIRES: the lock is held. The pointer is good for as long as it is.
    [[nodiscard]] Result<Scenery*> scenery(std::optional<Time> at);
    [[nodiscard]] Result<Scenery*> scenery_of(const RecordedCycle& cycle);
    [[nodiscard]] Result<std::unique_ptr<Scenery>> build(const RecordedCycle& cycle);
    [[nodiscard]] std::vector<std::shared_ptr<const DecisionEntry>> decisions_until(Time at);
    [[nodiscard]] static std::shared_ptr<const DecisionEntry> entry_of(const RecordedDecision& decision,
                                                                       const std::string& id);
    [[nodiscard]] static Deeds deeds_of(const Moment& moment);
    [[nodiscard]] static OrderedJson line_of(const PodLife& life,
                                             const Deeds& deeds,
                                             const Cluster& cluster,
                                             Time until);
    [[nodiscard]] std::vector<PodLife> lives_until(Time until, const Deeds& deeds);
    // Starts the copy under the lock, and gives the lock back while it works.
    [[nodiscard]] static Result<std::string> answer(Scenery& scenery,
                                                    const Question& question,
                                                    std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::unique_ptr<RecordReader> reader_;
    std::chrono::steady_clock::time_point opened_;
    Origin origin_;
    std::string path_;
    std::deque<std::unique_ptr<Scenery>> kept_;  // newest use first
    std::map<std::int64_t, std::shared_ptr<const DecisionEntry>> entries_;
};

}  // namespace reprieve::window
