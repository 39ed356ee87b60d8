#include "app/decision_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "manifest/plan_json.h"

namespace reprieve {
namespace {

Plan decisions_of(Plan plan) {
    plan.id.clear();
    plan.now = {};
    plan.queues.clear();
    plan.warnings.clear();
    plan.intents.clear();
    return plan;
}

}  // namespace

Result<std::unique_ptr<DecisionLog>> DecisionLog::open(const std::string& file) {
    std::FILE* opened = std::fopen(file.c_str(), "a");
    if (opened == nullptr) return fail(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
    return std::unique_ptr<DecisionLog>(new DecisionLog(opened));
}

void DecisionLog::on_cycle(const CycleReport& report) {
    Plan decisions = decisions_of(report.plan);
    if (decisions == last_) return;
    last_ = std::move(decisions);
    fmt::print(file_.get(), "{}", plan_to_json_line(report.plan));
    std::fflush(file_.get());
}

}  // namespace reprieve
