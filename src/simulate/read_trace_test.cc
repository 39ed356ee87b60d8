#include "simulate/read_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprieve {
namespace {

using testing::HasSubstr;

std::string jobs_error(const std::string& text) {
    const auto read = read_jobs_csv("jobs.csv", text);
    return read ? "" : read.error().message;
}

std::string nodes_error(const std::string& text) {
    const auto read = read_nodes_csv("nodes.csv", text);
    return read ? "" : read.error().message;
}

TEST(ReadTrace, ColumnsAreFoundByNameAndEmptyIsTheDefault) {
    const auto read =
        read_jobs_csv("jobs.csv",
                      "gpus,job,duration,submit,pods,min,queue,cpu,memory,priority,checkpoint,restart,topology\n"
                      "2,a,100,5,,,q,500m,1Gi,7,30,10,rack\n"
                      "0.25,b,1.5,6,4,2,,,,,,,\n");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->jobs.size(), 2U);
    const TraceJob& a = read->jobs[0];
    EXPECT_EQ(a.gpu_milli, 2000);
    EXPECT_EQ(a.pods, 1);
    EXPECT_EQ(a.min, 1);
    EXPECT_EQ(a.cpu_milli, 500);
    EXPECT_EQ(a.memory, std::int64_t{1} << 30);
    EXPECT_EQ(a.priority, 7);
    EXPECT_EQ(read->queues[a.queue], "q");
    EXPECT_EQ(read->topologies[a.topology], "rack");
    EXPECT_EQ(a.checkpoint, Duration::of_seconds(30));
    const TraceJob& b = read->jobs[1];
    EXPECT_EQ(b.gpu_milli, 250);
    EXPECT_EQ(b.duration.us, 1'500'000);
    EXPECT_EQ(b.pods, 4);
    EXPECT_EQ(b.min, 2);
    EXPECT_EQ(b.queue, 0U);
}

TEST(ReadTrace, AMalformedRowNamesFileLineAndColumn) {
    const std::string head = "job,submit,duration,pods,gpus,min\n";
    EXPECT_EQ(jobs_error(head + "a,0,1,1,1,\nb,x,1,1,1,\n"),
              "jobs.csv:3: column 2 (submit): 'x' is no number of seconds");
    EXPECT_EQ(jobs_error(head + "a,,1,1,1,\n"), "jobs.csv:2: column 2 (submit): is empty");
    EXPECT_EQ(jobs_error(head + "a,0,,1,1,\n"), "jobs.csv:2: column 3 (duration): is empty");
    EXPECT_EQ(jobs_error(head + "a,0,1,2,1,3\n"), "jobs.csv:2: column 6 (min): 3 is more than the job has pods (2)");
    EXPECT_THAT(jobs_error(head + "a,0,1,0,1,\n"), HasSubstr("jobs.csv:2: column 4 (pods): '0'"));
    EXPECT_THAT(jobs_error(head + "a,0,1,1,1.5,\n"), HasSubstr("jobs.csv:2: column 5 (gpus): '1.5'"));
    EXPECT_THAT(jobs_error(head + "a,0,-1,1,1,\n"), HasSubstr("jobs.csv:2: column 3 (duration)"));
    EXPECT_THAT(jobs_error(head + "a,0,1\n"),
                HasSubstr("jobs.csv:2: column 4: the row has 3 fields, the header has 6"));
    EXPECT_THAT(jobs_error(head + "a,0,1,1,1,\na,1,1,1,1,\n"),
                HasSubstr("jobs.csv:3: column 1 (job): a job 'a' was given before"));
    EXPECT_THAT(jobs_error("job,submit,duration,colour\n"),
                HasSubstr("jobs.csv:1: column 4: there is no column 'colour'"));
    EXPECT_THAT(jobs_error("job,submit\na,1\n"), HasSubstr("column duration is missing"));
    EXPECT_THAT(nodes_error("name,fails\nn,5\n"), HasSubstr("nodes.csv:2: column 2 (fails): '5' is not AT+DOWN"));
    EXPECT_THAT(nodes_error("name,labels\nn,zone\n"),
                HasSubstr("nodes.csv:2: column 2 (labels): 'zone' is not KEY=VALUE"));
    EXPECT_THAT(nodes_error("name,cpu\nn,many\n"), HasSubstr("nodes.csv:2: column 2 (cpu): 'many' is no amount"));
    EXPECT_THAT(nodes_error("name\nn\nn\n"), HasSubstr("nodes.csv:3: column 1 (name): a node 'n' was given before"));
}

TEST(ReadTrace, TimeThatGoesBackwardsIsSortedWithAWarning) {
    const auto read = read_jobs_csv("jobs.csv", "job,submit,duration\na,5,1\nb,3,1\nc,5,1\n");
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->jobs[0].name, "b");
    EXPECT_EQ(read->jobs[1].name, "a");
    ASSERT_EQ(read->warnings.size(), 1U);
    EXPECT_EQ(read->warnings[0], "jobs.csv: time goes backwards at 1 row; the jobs were sorted by submit");
}

TEST(ReadTrace, NodesAreCountedOutAndFail) {
    const auto read =
        read_nodes_csv("nodes.csv", "name,count,gpus,labels,fails\r\nn,2,8,rack=r1;row=w,60+5;10+20\r\n\"m\",,,,\r\n");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->size(), 3U);
    EXPECT_EQ((*read)[1].name, "n-1");
    EXPECT_EQ((*read)[1].gpus, 8);
    ASSERT_EQ((*read)[0].outages.size(), 2U);
    EXPECT_EQ((*read)[0].outages[0].at, Duration::of_seconds(10));
    EXPECT_EQ((*read)[2].name, "m");
    EXPECT_EQ((*read)[2].gpus, 0);
}

TEST(ReadTrace, EveryProcessorOfSwfIsAPod) {
    const std::string text =
        "; Version: 2.2\n"
        "1 10 5 100 4 -1 -1 8 200 -1 1 3 1 -1 2 -1 -1 -1\n"
        "2 20 5 -1 4 -1 -1 8 200 -1 0 3 1 -1 2 -1 -1 -1\n";
    const auto read = read_swf("log.swf", text, true);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->jobs.size(), 1U);
    EXPECT_EQ(read->jobs[0].pods, 8);
    EXPECT_EQ(read->jobs[0].gpu_milli, 1000);
    EXPECT_EQ(read->queues[read->jobs[0].queue], "q2");
    EXPECT_EQ(read->derivations, std::vector<std::string>{"swf=1gpu"});
    EXPECT_EQ(read->warnings.size(), 1U);
    const auto wrong = read_swf("log.swf", "1 10 5 x 4 -1 -1 8 200 -1 1 3 1 -1 2 -1 -1 -1\n", true);
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().message, "log.swf:1: column 4 (run): 'x' is no number");
}

}  // namespace
}  // namespace reprieve
