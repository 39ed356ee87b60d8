#include "web/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprieve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plan some_plan() {
    Plan plan;
    plan.placements = {{.pod = "ns/a", .node = "n1"}, {.pod = "ns/b", .node = "n2"}};
    plan.evictions = {{.pod = "ns/v1", .owner = "ns/a", .action = "preempt"},
                      {.pod = "ns/v2", .owner = "ns/a", .action = "preempt", .pdb_violation = true},
                      {.pod = "ns/v3", .owner = "ns/b", .action = "gangPreempt", .mode = EvictionMode::kEvict}};
    plan.unplaced = {{.pod = "ns/c"}};
    plan.certificates = {{.owner = "ns/a", .action = "preempt", .status = CertificateStatus::kOptimal},
                         {.owner = "ns/b",
                          .action = "gangPreempt",
                          .status = CertificateStatus::kGap,
                          .cost = {{"pdb", 0}, {"victims", 4}},
                          .bound = {{"pdb", 0}, {"victims", 3}}}};
    return plan;
}

TEST(Metrics, CountsWhatAPlanDoes) {
    Metrics metrics("1.2.3");
    for (int i = 0; i < 2; ++i) {
        metrics.plan_made(some_plan(), {.refresh = {}, .plan = {2'000}, .audit = {}, .whole = {}});
        metrics.attempted(2, 1);
        metrics.evicted(some_plan().evictions);
    }
    const std::string text = metrics.text();
    EXPECT_THAT(text, HasSubstr(R"(scheduler_schedule_attempts_total{profile="reprieve",result="scheduled"} 4)"));
    EXPECT_THAT(text, HasSubstr(R"(scheduler_schedule_attempts_total{profile="reprieve",result="unschedulable"} 2)"));
    EXPECT_THAT(text, HasSubstr("scheduler_preemption_attempts_total 4"));
    EXPECT_THAT(text, HasSubstr("scheduler_preemption_victims_sum 6"));
    EXPECT_THAT(text, HasSubstr("scheduler_preemption_pdb_violations_total 2"));
    EXPECT_THAT(text, HasSubstr(R"(reprieve_victims_total{action="gangPreempt",mode="evict"} 2)"));
    EXPECT_THAT(text, HasSubstr(R"(reprieve_certificates_total{action="preempt",status="optimal"} 2)"));
    EXPECT_THAT(text, HasSubstr("reprieve_plan_duration_seconds_count 2"));
    EXPECT_THAT(text, HasSubstr("reprieve_plan_gap 0.25"));
    EXPECT_THAT(text, HasSubstr(R"(reprieve_build_info{version="1.2.3"} 1)"));
}

TEST(Metrics, GapIsTheWorstOfAllCertificates) {
    Plan plan = some_plan();
    EXPECT_DOUBLE_EQ(gap_of(plan), 0.25);
    plan.certificates.push_back({.status = CertificateStatus::kGap,
                                 .cost = {{"pdb", 2}, {"victims", 9}},
                                 .bound = {{"pdb", 1}, {"victims", 9}}});
    EXPECT_DOUBLE_EQ(gap_of(plan), 0.5);
    EXPECT_DOUBLE_EQ(gap_of(Plan{}), 0.0);
}

TEST(Metrics, StepsAndStates) {
    Metrics metrics("1");
    metrics.step_ended({.step = SinkStep::kBind});
    metrics.step_ended({.step = SinkStep::kBind, .ok = false});
    metrics.set_pending({.active = 3, .unschedulable = 2, .gated = 1});
    metrics.set_ledger(7);
    metrics.set_leading(true);
    metrics.work_lost(12.5);
    metrics.pod_bound({1'500'000});
    metrics.plan_refused("default/big");
    const std::string text = metrics.text();
    EXPECT_THAT(text, HasSubstr(R"(reprieve_steps_total{result="failed",step="bind"} 1)"));
    EXPECT_THAT(text, HasSubstr(R"(scheduler_pending_pods{queue="unschedulable"} 2)"));
    EXPECT_THAT(text, HasSubstr("reprieve_ledger_size 7"));
    EXPECT_THAT(text, HasSubstr("reprieve_leader 1"));
    EXPECT_THAT(text, HasSubstr("reprieve_gpu_seconds_lost_total 12.5"));
    EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_sli_duration_seconds_sum 1.5"));
    EXPECT_THAT(text, HasSubstr(R"(reprieve_plans_refused_total{owner="default/big"} 1)"));
}

TEST(Metrics, ConnectionCountersFollowAndNeverGoBack) {
    Metrics metrics("1");
    metrics.set_connection({.totals = {.requests = 10, .objects = 5}, .kinds = {}, .times = {}});
    metrics.set_connection({.totals = {.requests = 12, .objects = 5}, .kinds = {}, .times = {}});
    metrics.set_connection({.totals = {.requests = 3}, .kinds = {}, .times = {}});
    EXPECT_THAT(metrics.text(), HasSubstr(R"(reprieve_api_requests_total{result="answered"} 12)"));
    EXPECT_THAT(metrics.text(), HasSubstr(R"(reprieve_objects_total{result="decoded"} 5)"));
}

}  // namespace
}  // namespace reprieve
