#include "app/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include "loop/loop_test_world.h"

namespace reprieve {
namespace {

using testing::HasSubstr;

class FakeLink : public ClusterLink {
public:
    [[nodiscard]] Source& source() override { return *source_; }
    [[nodiscard]] Sink& sink() override { return *sink_; }
    [[nodiscard]] bool leads() const override { return leads_now; }
    [[nodiscard]] bool synced() const override { return synced_now; }
    [[nodiscard]] LinkCounts counts() const override {
        return {.totals = {.requests = 17, .lists = 3}, .kinds = {}, .times = {}};
    }

    std::atomic<bool> leads_now = true;
    std::atomic<bool> synced_now = false;

private:
    Source* source_ = nullptr;  // nobody asks
    Sink* sink_ = nullptr;
};

class MonitorTest : public testing::Test {
protected:
    void SetUp() override {
        const auto started = monitor_.start("127.0.0.1:0");
        ASSERT_TRUE(started.has_value()) << started.error().message;
        client_ = std::make_unique<httplib::Client>("127.0.0.1", monitor_.port());
    }
    int status(const char* path) { return client_->Get(path)->status; }
    std::string metrics() { return client_->Get("/metrics")->body; }

    FakeLink link_;
    Monitor monitor_{link_};
    std::unique_ptr<httplib::Client> client_;
};

TEST_F(MonitorTest, is_ready_when_the_cluster_has_been_read) {
    EXPECT_EQ(status("/healthz"), 200) << "reading takes its time";
    EXPECT_EQ(status("/readyz"), 503);
    link_.synced_now = true;
    EXPECT_EQ(status("/readyz"), 200);
    EXPECT_EQ(status("/healthz"), 200);
}

TEST_F(MonitorTest, says_who_leads_and_what_the_connection_did) {
    monitor_.on_pulse();
    EXPECT_THAT(metrics(), HasSubstr("reprieve_leader 1\n"));
    EXPECT_THAT(metrics(), HasSubstr("reprieve_api_requests_total{result=\"answered\"} 17\n"));
    EXPECT_THAT(metrics(), HasSubstr("reprieve_reads_total{kind=\"list\"} 3\n"));
    link_.leads_now = false;
    monitor_.on_pulse();
    EXPECT_THAT(metrics(), HasSubstr("reprieve_leader 0\n"));
}

TEST_F(MonitorTest, says_whether_the_record_is_written) {
    monitor_.on_pulse();
    EXPECT_THAT(metrics(), testing::Not(HasSubstr("reprieve_record_recording 1\n"))) << "there is none";
    Monitor recording(link_);
    recording.follow_recording([] {
        return RecordingCounts{.recording = true, .changes = 12, .cycles = 3, .gaps = 1, .bytes = 4096, .waiting = 7};
    });
    ASSERT_TRUE(recording.start("127.0.0.1:0"));
    recording.on_pulse();
    const std::string text = httplib::Client("127.0.0.1", recording.port()).Get("/metrics")->body;
    EXPECT_THAT(text, HasSubstr("reprieve_record_recording 1\n"));
    EXPECT_THAT(text, HasSubstr("reprieve_record_entries_total{kind=\"change\"} 12\n"));
    EXPECT_THAT(text, HasSubstr("reprieve_record_gaps_total 1\n"));
    EXPECT_THAT(text, HasSubstr("reprieve_record_bytes{where=\"file\"} 4096\n"));
}

TEST_F(MonitorTest, counts_what_a_run_did) {
    World world({.start = kLoopStart, .seed = 1, .latency = {}});
    const std::string yaml =
        node_yaml("n1") + pod_yaml({.name = "low", .priority = 1, .cpu = 4, .node = "n1", .owner = "low"}) +
        pod_yaml({.name = "high", .priority = 100, .cpu = 4}) + pod_yaml({.name = "large", .cpu = 9});
    ASSERT_TRUE(world.load_text("world.yaml", yaml).has_value());
    world.begin();
    Cluster cluster({.scheduler_names = {"reprieve"}, .topology_levels = {}, .queues_by_namespace = false});
    WorldSource source(world, cluster.words());
    WorldSink sink(world);
    ControlLoop(cluster, source, sink, monitor_, {}).run();

    const std::string text = metrics();
    EXPECT_THAT(text, HasSubstr("reprieve_steps_total{result=\"ok\",step=\"bind\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("reprieve_victims_total{action=\"preempt\",mode=\"delete\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("scheduler_pod_scheduling_sli_duration_seconds_count 1\n"));
    EXPECT_THAT(text, HasSubstr("scheduler_pending_pods{queue=\"unschedulable\"} 2\n")) << "large, and low made again";
    EXPECT_THAT(text, HasSubstr("reprieve_ledger_size 0\n"));
    EXPECT_THAT(text, HasSubstr("reprieve_rebuilds_total 1\n"));
    EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes "));
    const std::string attempts = "scheduler_schedule_attempts_total{profile=\"reprieve\",result=";
    EXPECT_THAT(text, HasSubstr(attempts + "\"scheduled\"} 1\n")) << "once, however many cycles it took";
    EXPECT_THAT(text, HasSubstr(attempts + "\"unschedulable\"} 2\n"));
}

TEST_F(MonitorTest, an_address_that_is_taken_is_an_error) {
    Monitor second_monitor(link_);
    const auto second = second_monitor.start("127.0.0.1:" + std::to_string(monitor_.port()));
    ASSERT_FALSE(second.has_value());
    EXPECT_THAT(second.error().message, HasSubstr("cannot be listened on"));
}

}  // namespace
}  // namespace reprieve
