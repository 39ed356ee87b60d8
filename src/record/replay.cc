#include "record/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "actions/cycle.h"
#include "manifest/plan_json.h"
#include "record/ledger.h"
#include "record/rebuild.h"

namespace reprieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostChanged = 1000;

// What a plan does for each demand, in words that can be compared.
std::map<std::string, std::string> deeds_by_demand(const Plan& plan) {
    std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> parts;
    for (const Eviction& e : plan.evictions)
        parts[e.owner].first.push_back(e.pod);
    for (const Placement& p : plan.placements)
        parts[p.owner.empty() ? p.pod : p.owner].second.push_back(
            fmt::format("{} on {}{}", p.pod, p.node, p.after_evictions ? " later" : ""));
    std::map<std::string, std::string> out;
    for (auto& [owner, deeds] : parts) {
        std::ranges::sort(deeds.first);
        std::ranges::sort(deeds.second);
        std::string& text = out[owner];
        if (!deeds.first.empty()) text = fmt::format("evicts {}", fmt::join(deeds.first, ", "));
        if (!deeds.second.empty())
            text += fmt::format("{}places {}", text.empty() ? "" : "; ", fmt::join(deeds.second, ", "));
    }
    return out;
}

// What of the plans that are made again is new. The world does not follow them, so that they say the same until it has
// changed for another reason.
class ReplayedDeeds {
public:
    DeedCounts take(const Plan& plan) {
        DeedCounts out;
        for (const Eviction& e : plan.evictions)
            out.evictions += evicted_.insert(e.pod).second ? 1 : 0;
        for (const Placement& p : plan.placements) {
            const auto [known, fresh] = placed_.try_emplace(p.pod, p.node);
            out.placements += fresh || known->second != p.node ? 1 : 0;
            known->second = p.node;
        }
        return out;
    }

    void forget(const std::string& pod) {
        evicted_.erase(pod);
        placed_.erase(pod);
    }

private:
    std::set<std::string> evicted_;
    std::map<std::string, std::string> placed_;  // where
};

class ReplayRun {
public:
    ReplayRun(RecordReader& reader, const ReplayOptions& options)
        : reader_(reader),
          options_(options),
          decided_(reader.deed_counts()) {}

    Result<ReplayReport> run() {
        RecordVisitor visitor;
        visitor.keyframe = [&](const RecordedWorld& world, Time, bool fresh) { return take_keyframe(world, fresh); };
        visitor.change = [&](const RecordedChange& change) { return take_change(change); };
        visitor.cycle = [&](const RecordedCycle& cycle) { return take_cycle(cycle); };
        if (auto walked = reader_.walk(options_.from, visitor); !walked) return std::unexpected(walked.error());
        for (const RecordGap& gap : reader_.gaps()) {
            if (gap.to >= options_.from && (!options_.to.is_set() || gap.from <= options_.to))
                report_.gaps.push_back(gap);
        }
        return std::move(report_);
    }

private:
    // The cluster is made when a cycle tells which configuration it planned with.
    Result<void> take_keyframe(const RecordedWorld& world, bool fresh) {
        if (!fresh && rebuild_) return {};  // it has followed every change
        rebuild_.reset();
        deeds_ = {};
        start_ = world;
        return {};
    }

    Result<void> take_change(const RecordedChange& change) {
        if (!change.believed) {
            if (auto done = settle(); !done) return done;
        }
        constexpr std::string_view kPod = "Pod ";
        if (!change.believed && change.json.empty() && change.key.starts_with(kPod))
            deeds_.forget(std::string(change.key.substr(kPod.size())));
        if (rebuild_) return rebuild_->apply(change);
        if (!apply_change(change, start_)) return fail("the record believes something of an object that is not there");
        return {};
    }

    // The loop brings its cluster up to date once more when it has carried a plan out, with what it then believes:
    // whoever was bound counts as started from then on, until a watch knows better.
    Result<void> settle() {
        const Time at = std::exchange(carried_out_, {});
        if (!at.is_set() || !rebuild_) return {};
        return rebuild_->cluster().refresh(at);
    }

    // False: it cannot be read.
    Result<bool> use_config(const RecordedCycle& cycle) {
        if (options_.config) {
            if (!config_) config_ = options_.config;
        } else {
            const auto text = reader_.config_text(cycle);
            if (!text) return false;
            if (!config_ || config_text_ != *text) {
                auto parsed = running_config(*text, "the recorded configuration");
                if (!parsed) return std::unexpected(parsed.error());
                config_ = std::move(*parsed);
                config_text_ = *text;
                if (rebuild_) start_ = rebuild_->world();
                rebuild_.reset();
            }
        }
        if (rebuild_) return true;
        rebuild_ = std::make_unique<Rebuild>(*config_);
        if (auto started = rebuild_->start(start_); !started) return std::unexpected(started.error());
        start_.clear();
        return true;
    }

    Result<bool> take_cycle(const RecordedCycle& cycle) {
        if (options_.to.is_set() && cycle.at > options_.to) return false;
        if (cycle.at < options_.from) return true;
        if (auto done = settle(); !done) return std::unexpected(done.error());
        const auto ready = use_config(cycle);
        if (!ready) return std::unexpected(ready.error());
        if (!*ready) return true;
        if (cycle.acted) carried_out_ = cycle.at;
        Cluster& cluster = rebuild_->cluster();
        if (auto done = cluster.refresh(cycle.at); !done) return std::unexpected(done.error());
        const Plan replayed = plan_again(cluster, *config_, cycle.inputs);
        const auto recorded = reader_.plan_text(cycle);
        if (!recorded) return true;  // the reader has noted the gap
        return compare(cycle, *recorded, replayed);
    }

    Result<bool> compare(const RecordedCycle& cycle, const std::string& recorded, const Plan& replayed) {
        ++report_.cycles;
        const std::string body = plan_body(replayed);
        const bool same = body == recorded;
        ++(same ? report_.identical : report_.different);
        const auto add = [](DeedCounts& totals, DeedCounts more) {
            totals.evictions += more.evictions;
            totals.placements += more.placements;
        };
        const auto known = decided_.find(cycle.id);
        const DeedCounts decided = known == decided_.end() ? DeedCounts() : known->second;
        const DeedCounts deeds = deeds_.take(replayed);
        add(report_.recorded, decided);
        add(report_.replayed, same ? decided : deeds);
        if (same) return true;
        if (!report_.first)
            report_.first = ReplayDifference{.cycle = cycle.id, .at = cycle.at, .recorded = recorded, .replayed = body};
        const auto before = plan_from_json(recorded);
        if (!before) return fail(fmt::format("cycle {}: {}", cycle.id, before.error().message));
        list_changes(cycle, deeds_by_demand(*before), deeds_by_demand(replayed));
        return true;
    }

    void list_changes(const RecordedCycle& cycle,
                      const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
        std::map<std::string, ChangedDecision> all;
        for (const auto& [owner, deeds] : before)
            all[owner].recorded = deeds;
        for (const auto& [owner, deeds] : after)
            all[owner].replayed = deeds;
        for (auto& [owner, change] : all) {
            if (change.recorded == change.replayed) continue;
            if (report_.changed.size() >= kMostChanged) {
                ++report_.changed_left_out;
                continue;
            }
            change.cycle = cycle.id;
            change.at = cycle.at;
            change.owner = owner;
            report_.changed.push_back(change);
        }
    }

    RecordReader& reader_;
    const ReplayOptions& options_;
    ReplayReport report_;
    std::optional<SchedulerConfig> config_;
    std::string config_text_;
    std::unique_ptr<Rebuild> rebuild_;
    Time carried_out_;  // when the plan of the last cycle was; not set: nothing has to be brought up to date
    RecordedWorld start_;
    std::map<std::int64_t, DeedCounts> decided_;  // by cycle, as recorded
    ReplayedDeeds deeds_;
};

// Bodies are kept without the time of their cycle.
Json plan_of(const std::string& body, Time at) {
    Json out = Json::parse(body);
    out["now"] = format_time(at);
    return out;
}

}  // namespace

Plan plan_again(Cluster& cluster, const SchedulerConfig& config, const CycleInputs& inputs) {
    SchedulerConfig used = config;
    if (inputs.last_resort) {
        used.actions.emplace();
        used.actions->push_back({.kind = ActionKind::kAllocate});
    }
    CycleLimit limit{.is_over = {}, .first = inputs.first};
    if (inputs.reached >= 0)
        limit.is_over = [asked = std::int64_t{0}, &inputs]() mutable { return asked++ >= inputs.reached; };
    return run_cycle(cluster, used, {}, inputs.overdue, limit);
}

Result<ReplayReport> replay(RecordReader& reader, const ReplayOptions& options) {
    return ReplayRun(reader, options).run();
}

std::string replay_to_json(const ReplayReport& report) {
    Json out = Json::object();
    out["cycles"] = report.cycles;
    out["identical"] = report.identical;
    out["different"] = report.different;
    out["firstDifference"] = nullptr;
    if (report.first) {
        out["firstDifference"] = {{"cycle", report.first->cycle},
                                  {"at", format_time(report.first->at)},
                                  {"recorded", plan_of(report.first->recorded, report.first->at)},
                                  {"replayed", plan_of(report.first->replayed, report.first->at)}};
    }
    out["gaps"] = Json::array();
    for (const RecordGap& gap : report.gaps)
        out["gaps"].push_back({{"from", format_time(gap.from)}, {"to", format_time(gap.to)}, {"why", gap.why}});
    out["changed"] = Json::array();
    for (const ChangedDecision& one : report.changed) {
        out["changed"].push_back({{"cycle", one.cycle},
                                  {"at", format_time(one.at)},
                                  {"for", one.owner},
                                  {"recorded", one.recorded},
                                  {"replayed", one.replayed}});
    }
    out["changedLeftOut"] = report.changed_left_out;
    const auto totals = [](const DeedCounts& one) {
        return Json{{"evictions", one.evictions}, {"placements", one.placements}};
    };
    out["totals"] = {{"recorded", totals(report.recorded)}, {"replayed", totals(report.replayed)}};
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace reprieve
