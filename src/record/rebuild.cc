#include "record/rebuild.h"

#include <fmt/format.h>

#include "manifest/config.h"
#include "record/overlay.h"
#include "record/reader_files.h"

namespace reprieve {

ClusterOptions cluster_options(const SchedulerConfig& config) {
    return {.scheduler_names = config.scheduler_names,
            .topology_levels = config.topology_levels,
            .queues_by_namespace = config.queues_by_namespace,
            .trust = config.trust};
}

Rebuild::Rebuild(const SchedulerConfig& config)
    : cluster_(std::make_unique<Cluster>(cluster_options(config))),
      decoder_(cluster_->words()) {}

Result<Object> Rebuild::decode(const std::string& key, const std::string& json) {
    auto decoded = decoder_.decode(json);
    // As the watch does with an object that must not be overlooked.
    if (!decoded) {
        Decoder::Lenient lenient = decoder_.decode_leniently(json);
        if (lenient.object) return std::move(*lenient.object);
        return fail(fmt::format("{}: {}", key, decoded.error().text()));
    }
    if (!*decoded) return fail(fmt::format("{}: is of a kind that no decision depends on", key));
    return std::move(**decoded);
}

Result<void> Rebuild::put(const std::string& key, const RecordedObject& object) {
    auto decoded = decode(key, object.json);
    if (!decoded) return std::unexpected(decoded.error());
    if (auto* pod = std::get_if<Pod>(&*decoded)) {
        if (auto laid = lay_over(*pod, object.overlay, cluster_->words()); !laid) return laid;
    }
    cluster_->apply(std::move(*decoded));
    return {};
}

Result<void> Rebuild::start(const RecordedWorld& world) {
    world_ = world;
    for (const auto& [key, object] : world_) {
        if (auto done = put(key, object); !done) return done;
    }
    return {};
}

Result<void> Rebuild::apply(const RecordedChange& change) {
    const auto known = world_.find(std::string(change.key));
    if (!change.believed && change.json.empty()) {
        if (known == world_.end()) return {};
        const auto gone = decode(known->first, known->second.json);
        if (!gone) return std::unexpected(gone.error());
        cluster_->remove(*gone);
        world_.erase(known);
        return {};
    }
    if (change.believed && known == world_.end())
        return fail(fmt::format("{}: something is believed of an object that is not there", change.key));
    RecordedObject next = known == world_.end() ? RecordedObject() : known->second;
    (change.believed ? next.overlay : next.json) = change.json;
    const std::string key(change.key);
    if (auto done = put(key, next); !done) return done;
    world_[key] = std::move(next);
    return {};
}

Result<std::unique_ptr<Rebuild>> rebuild_at(RecordReader& reader,
                                            const RecordedCycle& cycle,
                                            const SchedulerConfig& config) {
    const auto world = reader.world(cycle);
    if (!world) return std::unexpected(world.error());
    auto out = std::make_unique<Rebuild>(config);
    if (auto started = out->start(*world); !started) return std::unexpected(started.error());
    if (auto done = out->cluster().refresh(cycle.at); !done) return std::unexpected(done.error());
    return out;
}

Result<SchedulerConfig> running_config(const std::string& text, const std::string& name) {
    SchedulerConfig config;
    if (!text.empty()) {
        auto parsed = parse_config(text, name);
        if (!parsed) return std::unexpected(parsed.error());
        config = std::move(*parsed);
    }
    if (config.scheduler_names.empty()) config.scheduler_names = {"reprieve"};
    return config;
}

Result<SchedulerConfig> config_of(RecordReader& reader, const RecordedCycle& cycle) {
    const auto text = reader.config_text(cycle);
    if (!text) return std::unexpected(text.error());
    return running_config(*text, "the recorded configuration");
}

}  // namespace reprieve
