#include "simulate/simulation.h"

#include <algorithm>

#include "loop/control_loop.h"
#include "manifest/decode.h"
#include "manifest/load.h"
#include "simulate/yard.h"

namespace reprieve {
namespace {

class SimulationWatch : public LoopObserver {
public:
    SimulationWatch(const Yard& yard, const std::function<void(std::size_t)>& progress)
        : yard_(yard),
          progress_(progress) {}

    void on_cycle(const CycleReport& report) override {
        ++cycles;
        if (!report.violations.empty()) {
            ++dropped;
            if (violation.empty()) violation = format_violation(report.violations.front());
        }
        if (progress_ && (cycles & 0xFF) == 0) progress_(yard_.jobs_done());
    }
    void on_trouble(const std::string& what, Time) override {
        if (trouble.empty()) trouble = what;
    }

    std::int64_t cycles = 0;
    std::int64_t dropped = 0;
    std::string violation;
    std::string trouble;

private:
    const Yard& yard_;
    const std::function<void(std::size_t)>& progress_;
};

Result<std::vector<Object>> load_facts(const std::vector<std::string>& files,
                                       const std::vector<std::string>& texts,
                                       Vocabulary& words) {
    std::vector<Object> facts;
    Loader loader(words, [&](Object&& object, const SourceRef&) {
        if (!std::holds_alternative<Node>(object)) facts.push_back(std::move(object));
    });
    for (const std::string& file : files) {
        if (auto loaded = loader.load(file); !loaded) return fail(loaded.error().text());
    }
    Decoder decoder(words);
    for (const std::string& text : texts) {
        if (auto fact = decoder.decode_leniently(text).object) facts.push_back(std::move(*fact));
    }
    return facts;
}

// By the usual filters and scores, without limits that a node does not know of.
bool places_as_usual(const SchedulerConfig& config) {
    return config.plugins.disable.empty() && !config.plugins.only && config.plugins.score_weights.empty() &&
           (!config.actions ||
            std::ranges::find(*config.actions, ActionKind::kAllocate, &ActionConfig::kind) != config.actions->end());
}

// Facts that leave it to the nodes where a pod may go.
bool leave_it_to_nodes(const std::vector<Object>& facts) {
    return std::ranges::all_of(facts, [](const Object& fact) {
        if (const auto* queue = std::get_if<Queue>(&fact))
            return !queue->is_quota && queue->limit.empty() && queue->open;
        return std::holds_alternative<PriorityClass>(fact) || std::holds_alternative<Namespace>(fact);
    });
}

}  // namespace

Result<RunOutcome> simulate(const std::vector<TraceNode>& nodes,
                            const JobTrace& trace,
                            const std::vector<std::string>& never,
                            const Policy& policy,
                            const SimulationOptions& options) {
    Cluster cluster({.scheduler_names = {},
                     .topology_levels = policy.config.topology_levels,
                     .queues_by_namespace = policy.config.queues_by_namespace,
                     .trust = {},
                     .claims_by_controller = true});
    auto facts = load_facts(options.manifests, options.facts, cluster.words());
    if (!facts) return std::unexpected(facts.error());
    YardOptions yard_options;
    yard_options.grace = options.grace;
    yard_options.until = options.until;
    yard_options.view = policy.view;
    yard_options.seed = options.seed;
    yard_options.express = options.express && places_as_usual(policy.config) && leave_it_to_nodes(*facts);
    Yard yard(cluster.words(), nodes, trace, never, std::move(*facts), yard_options);
    SimulationWatch watch(yard, options.progress);
    LoopOptions loop_options;
    loop_options.config = policy.config;
    loop_options.config_text = policy.config_text;
    ControlLoop loop(cluster, yard, yard, watch, loop_options);
    loop.run();
    if (!watch.trouble.empty()) return fail(watch.trouble);
    RunOutcome outcome = yard.finish();
    outcome.cycles = watch.cycles;
    outcome.dropped_plans = watch.dropped;
    if (watch.dropped > 0 && outcome.broken.empty()) {
        outcome.broken = "a plan broke a rule and was not carried out: " + watch.violation;
    }
    return outcome;
}

}  // namespace reprieve
