#include "referee/record_referee.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "referee/others_done.h"
#include "state/pod_named.h"

namespace reprieve {
namespace {

class RecordTrial {
public:
    RecordTrial(RecordReader& reader, const RefereeOptions& options, bool own_config)
        : reader_(reader),
          options_(options),
          own_config_(own_config) {}

    Result<RefereeReport> run() {
        for (RecordedDecision& one : reader_.decisions({})) {
            // Of one that is half lost nobody knows whether it was fair.
            if (one.whole && !one.victims.empty() && one.outcome != "dropped")
                decisions_[one.cycle].push_back(std::move(one));
        }
        RecordVisitor visitor;
        visitor.keyframe = [&](const RecordedWorld& world, Time at, bool fresh) { return keyframe(world, at, fresh); };
        visitor.change = [&](const RecordedChange& change) { return take(change); };
        visitor.cycle = [&](const RecordedCycle& cycle) { return take(cycle); };
        if (auto walked = reader_.walk({}, visitor); !walked) return std::unexpected(walked.error());
        collect();
        report_.from = reader_.from();
        report_.to = reader_.to();
        report_.gaps = reader_.gaps();
        report_.complete = reader_.troubles().empty();
        std::ranges::stable_sort(report_.verdicts, {}, &JudgedDecision::at);
        return std::move(report_);
    }

private:
    Result<void> start(const SchedulerConfig& config) {
        RefereeOptions own = options_;
        own.config = config;
        own.reads_marks = false;
        ours_ = std::make_unique<Referee>(own);
        own.config.scheduler_names.clear();
        own.reads_marks = true;
        others_ = std::make_unique<Referee>(own);
        for (const RecordGap& gap : reader_.gaps())
            others_->note_gap(gap);
        names_ = config.scheduler_names;
        report_.schedulers.insert(names_.begin(), names_.end());
        return {};
    }

    Result<void> keyframe(const RecordedWorld& world, Time at, bool fresh) {
        if (!fresh && ours_) return {};
        collect();
        ours_.reset();
        start_ = world;
        start_at_ = at;
        return {};
    }

    void collect() {
        for (const auto& referee : {ours_.get(), others_.get()}) {
            if (!referee) continue;
            referee->finish(last_);
            report_.schedulers.merge(referee->report().schedulers);
            for (JudgedDecision& one : referee->report().verdicts) {
                // Reprieve's own are judged from its record, not from its marks.
                const bool marked =
                    referee == others_.get() && std::ranges::find(names_, one.scheduler) != names_.end();
                if (!marked) report_.verdicts.push_back(std::move(one));
            }
        }
        ours_.reset();
        others_.reset();
    }

    Result<void> take(const RecordedChange& change) {
        last_ = std::max(last_, change.at);
        if (!ours_) {
            if (!apply_change(change, start_))
                return fail("the record believes something of an object that is not there");
            return {};
        }
        const std::string key(change.key);
        if (change.believed) return ours_->world().apply(change);
        if (auto seen = ours_->see(change.at, key, change.json); !seen) return seen;
        if (auto seen = others_->see(change.at, key, change.json); !seen) return seen;
        others_->look(change.at);
        return {};
    }

    Result<bool> take(const RecordedCycle& cycle) {
        last_ = std::max(last_, cycle.at);
        if (!ours_) {
            SchedulerConfig config = options_.config;
            // Whose pods are Reprieve's says the record, unless the yardstick does.
            if (own_config_ || config.scheduler_names.empty()) {
                const auto text = reader_.config_text(cycle);
                if (!text && own_config_) return true;  // nobody knows what was asked for
                auto recorded = running_config(text.value_or(""), "the recorded configuration");
                if (!recorded) return std::unexpected(recorded.error());
                if (own_config_)
                    config = std::move(*recorded);
                else
                    config.scheduler_names = std::move(recorded->scheduler_names);
            }
            if (auto started = start(config); !started) return std::unexpected(started.error());
            for (const auto& [key, object] : start_) {
                if (auto seen = ours_->see(start_at_, key, object.json); !seen) return std::unexpected(seen.error());
                if (auto seen = others_->see(start_at_, key, object.json); !seen) return std::unexpected(seen.error());
                if (object.overlay.empty()) continue;
                if (auto laid =
                        ours_->world().apply({.at = start_at_, .key = key, .believed = true, .json = object.overlay});
                    !laid)
                    return std::unexpected(laid.error());
            }
            start_.clear();
        }
        ours_->look(cycle.at);
        const auto made = decisions_.find(cycle.id);
        if (made == decisions_.end()) return true;
        const auto plan = reader_.plan(cycle);
        if (!plan) return true;
        for (const RecordedDecision& one : made->second) {
            EvictionCase what{.owner = one.owner, .victims = {one.victims.begin(), one.victims.end()}, .nodes = {}};
            for (const Placement& p : plan->placements) {
                if ((p.owner.empty() ? p.pod : p.owner) == one.owner) what.nodes.insert(p.node);
            }
            ours_->add_own(cycle.at, what, names_.empty() ? "reprieve" : names_.front(), rule(cycle.at, *plan, what));
        }
        return true;
    }

    // A cycle serves one demand after the other, and the plan does not tell in which order. A decision was made in a
    // state between "nothing is done yet" and "all others are done": what is said against it must be true in each of
    // those that are tried.
    Ruling rule(Time at, const Plan& plan, const EvictionCase& what) {
        std::optional<Ruling> said;
        const std::map<std::string, std::int32_t> priorities = priorities_in(plan, at);
        for (const OthersState state : {OthersState::kAllDone, OthersState::kThoseBeforeDone, OthersState::kNoneDone}) {
            OthersDone others(ours_->world());
            if (auto laid = lay_over(others, plan, what, others_of(priorities, what.owner, state), at); !laid)
                return unclear(laid.error().message);
            auto ruling = judge(ours_->world(), what, ours_->config(), at);
            if (!ruling) return unclear(ruling.error().message);
            if (ruling->verdict == CaseVerdict::kFair) return std::move(*ruling);
            if (!said || (is_against(said->verdict) && !is_against(ruling->verdict))) said = std::move(*ruling);
        }
        return std::move(*said);
    }

    static Ruling unclear(const std::string& why) {
        Ruling out;
        out.evidence = why;
        return out;
    }

    Result<void> lay_over(
        OthersDone& others, const Plan& plan, const EvictionCase& what, const std::set<std::string>& owners, Time at) {
        std::vector<const Placement*> placed;
        for (const Placement& p : plan.placements) {
            if (owners.contains(p.owner.empty() ? p.pod : p.owner)) placed.push_back(&p);
        }
        if (placed.empty() && plan.evictions.empty()) return {};
        if (auto fresh = ours_->world().cluster().refresh(at); !fresh) return fresh;
        const std::set<std::string> needed = pods_needed_by(ours_->world().cluster(), placed);
        for (const Eviction& e : plan.evictions) {
            if (owners.contains(e.owner)) others.remove(e.pod, e.frees);
        }
        for (const Placement* p : placed)
            others.bind(*p, true);
        for (const std::string& pod : needed) {
            if (!what.victims.contains(pod)) others.keep(pod);
        }
        return {};
    }

    // Of every demand of the plan; the highest where it is not known.
    std::map<std::string, std::int32_t> priorities_in(const Plan& plan, Time at) {
        Cluster& cluster = ours_->world().cluster();
        const bool fresh = cluster.refresh(at).has_value();
        std::map<std::string, std::int32_t> out;
        for (const Placement& p : plan.placements) {
            const PodId pod = fresh ? pod_named(cluster, p.pod) : PodId();
            if (pod) out.emplace(p.owner.empty() ? p.pod : p.owner, cluster.snapshot().pods[pod].priority);
        }
        for (const Eviction& e : plan.evictions)
            out.emplace(e.owner, std::numeric_limits<std::int32_t>::max());
        return out;
    }

    // Whoever has no lower priority is served before.
    static std::set<std::string> others_of(const std::map<std::string, std::int32_t>& priorities,
                                           const std::string& owner,
                                           OthersState state) {
        std::set<std::string> out;
        for (const auto& [other, priority] : priorities) {
            const bool before = !priorities.contains(owner) || priority >= priorities.at(owner);
            const bool done = state == OthersState::kAllDone || (state == OthersState::kThoseBeforeDone && before);
            if (other != owner && done) out.insert(other);
        }
        return out;
    }

    RecordReader& reader_;
    const RefereeOptions& options_;
    bool own_config_;
    std::map<std::int64_t, std::vector<RecordedDecision>> decisions_;  // by cycle
    std::unique_ptr<Referee> ours_;
    std::unique_ptr<Referee> others_;
    std::vector<std::string> names_;
    RecordedWorld start_;
    Time start_at_;
    Time last_;
    RefereeReport report_;
};

}  // namespace

Result<RefereeReport> judge_record(RecordReader& reader, const RefereeOptions& options, bool own_config) {
    return RecordTrial(reader, options, own_config).run();
}

}  // namespace reprieve
