// Rebuild: a Cluster from a record, as the loop had it.
//
// Objects are decoded as a watch would deliver them, and what the loop believed of pods is laid over them. One
// Rebuild follows a record from keyframe to keyframe; a Cluster made from a keyframe and one that followed every change
// since give the same plans, byte for byte.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "manifest/decode.h"
#include "model/config.h"
#include "record/reader.h"
#include "state/cluster.h"

namespace reprieve {

[[nodiscard]] ClusterOptions cluster_options(const SchedulerConfig& config);

class Rebuild {
public:
    explicit Rebuild(const SchedulerConfig& config);

    // REQUIRES: nothing was put in yet.
    [[nodiscard]] Result<void> start(const RecordedWorld& world);
    [[nodiscard]] Result<void> apply(const RecordedChange& change);

    [[nodiscard]] Cluster& cluster() { return *cluster_; }
    [[nodiscard]] const RecordedWorld& world() const { return world_; }

private:
    [[nodiscard]] Result<void> put(const std::string& key, const RecordedObject& object);
    [[nodiscard]] Result<Object> decode(const std::string& key, const std::string& json);

    std::unique_ptr<Cluster> cluster_;
    Decoder decoder_;
    RecordedWorld world_;
};

// The cluster at a cycle, refreshed to its time.
[[nodiscard]] Result<std::unique_ptr<Rebuild>> rebuild_at(RecordReader& reader,
                                                          const RecordedCycle& cycle,
                                                          const SchedulerConfig& config);

// The configuration that the cycle planned with.
[[nodiscard]] Result<SchedulerConfig> config_of(RecordReader& reader, const RecordedCycle& cycle);
// The same from its text; pods of other schedulers are not ours unless it says so.
[[nodiscard]] Result<SchedulerConfig> running_config(const std::string& text, const std::string& name);

}  // namespace reprieve
