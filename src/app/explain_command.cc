#include "app/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/complaint.h"
#include "app/plan_file.h"
#include "explain/explain.h"
#include "explain/explanation_json.h"
#include "record/reader.h"
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
        if (auto read = read_inputs(options_.planning); !read) return std::unexpected(read.error());
        auto subject = find();
        if (!subject) {
            // Who asks about a pod of the past means the last decision about it.
            if (const auto past = last_decision_about()) {
                PlanningOptions then = options_.planning;
                then.cycle = *past;
                if (auto read = read_inputs(then); !read) return std::unexpected(read.error());
                subject = find();
                if (subject)
                    print_complaint(fmt::format(
                        "{}: gone at the end of the record; this is the last decision about it, cycle {} at {}",
                        options_.name,
                        *past,
                        format_time(plan_.now)));
            }
        }
        if (!subject) return std::unexpected(Stop{subject.error().message});
        if (!planning_) return explain(plan_, nullptr, *subject);
        Retrials trials(
            plan_, planning_->cluster(), planning_->config(), allowed_plans(planning_->cluster().snapshot()));
        return explain(plan_, &trials, *subject);
    }

private:
    [[nodiscard]] Result<Subject> find() {
        return find_subject(plan_, planning_ ? &planning_->cluster() : nullptr, options_.name, options_.gang);
    }

    // The cycle of the last decision that names it, where the command line names no moment.
    [[nodiscard]] std::optional<std::int64_t> last_decision_about() {
        const PlanningOptions& asked = options_.planning;
        if (asked.record.empty() || !asked.at.empty() || asked.cycle > 0) return std::nullopt;
        auto reader = RecordReader::open(asked.record);
        if (!reader) return std::nullopt;
        const auto decisions = (*reader)->decisions({.name = options_.name});
        return decisions.empty() ? std::nullopt : std::optional(decisions.back().cycle);
    }

    std::expected<void, Stop> read_inputs(PlanningOptions planning) {
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
