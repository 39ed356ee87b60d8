#include "app/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/complaint.h"
#include "app/plan_file.h"
#include "explain/explain.h"
#include "explain/explanation_json.h"
#include "text/explanation_text.h"
#include "text/plan_table.h"

namespace reprieve {
namespace {

// How many plans an explanation may make. In a big cluster each of them takes its time, so there are fewer.
constexpr std::int64_t kMostPlans = 100;
constexpr std::int64_t kLeastPlans = 12;
constexpr std::int64_t kPodsInAll = 500'000;

std::int64_t allowed_plans(const Snapshot& snapshot) {
    const auto pods = std::max<std::int64_t>(1, std::ssize(snapshot.pods));
    return std::clamp(kPodsInAll / pods, kLeastPlans, kMostPlans);
}

class ExplainRun {
public:
    explicit ExplainRun(const ExplainOptions& options) : options_(options) {}

    std::expected<Explanation, Stop> run() {
        if (auto read = read_inputs(); !read) return std::unexpected(read.error());
        const Cluster* cluster = planning_ ? &planning_->cluster() : nullptr;
        const auto subject = find_subject(plan_, cluster, options_.name, options_.gang);
        if (!subject) return std::unexpected(Stop{subject.error().message});
        if (!planning_) return explain(plan_, nullptr, *subject);
        Retrials trials(plan_, planning_->cluster(), planning_->config(), allowed_plans(cluster->snapshot()));
        return explain(plan_, &trials, *subject);
    }

private:
    std::expected<void, Stop> read_inputs() {
        PlanningOptions planning = options_.planning;
        if (options_.plan_file.empty() && planning.files.empty() && planning.record.empty() && !planning.cluster)
            return std::unexpected(Stop{"-f FILE is missing (or --plan FILE, or --record DIR)", kExitUsage});
        if (!options_.plan_file.empty() && !planning.record.empty())
            return std::unexpected(Stop{"--plan and --record exclude each other", kExitUsage});
        if (!options_.plan_file.empty()) {
            auto plan = read_plan_file(options_.plan_file, options_.name);
            if (!plan) return std::unexpected(Stop{plan.error().message});
            plan_ = std::move(*plan);
            if (planning.files.empty()) return {};
            if (planning.now.empty()) planning.now = format_time(plan_.now);
        }
        auto read = Planning::read(planning);
        if (!read) return std::unexpected(read.error());
        planning_ = std::move(*read);
        Plan fresh = planning_->plan();
        if (!options_.plan_file.empty() && fresh.id != plan_.id) {
            return std::unexpected(Stop{
                fmt::format("{}: was not made from these manifests with this configuration at this time; explain it "
                            "without -f, or plan anew without --plan",
                            options_.plan_file)});
        }
        plan_ = std::move(fresh);
        return {};
    }

    const ExplainOptions& options_;
    Plan plan_;
    std::unique_ptr<Planning> planning_;
};

int tell(const std::expected<Explanation, Stop>& explanation, const std::string& output) {
    if (!explanation) {
        print_complaint(explanation.error().message);
        return explanation.error().code;
    }
    fmt::print("{}",
               output == "json" ? explanation_to_json(*explanation) : explanation_to_text(*explanation, table_style()));
    return kExitOk;
}

}  // namespace

int explain_command(const ExplainOptions& options) { return tell(ExplainRun(options).run(), options.output); }

int explain_with(Planning& planning, const std::string& name, bool gang, const std::string& output) {
    const Plan plan = planning.plan();
    const auto subject = find_subject(plan, &planning.cluster(), name, gang);
    if (!subject) return tell(std::unexpected(Stop{subject.error().message}), output);
    Retrials trials(plan, planning.cluster(), planning.config(), allowed_plans(planning.cluster().snapshot()));
    return tell(explain(plan, &trials, *subject), output);
}

}  // namespace reprieve
