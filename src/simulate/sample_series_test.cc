#include "simulate/sample_series.h"

#include <gtest/gtest.h>

namespace reprieve {
namespace {

constexpr auto after_seconds = Duration::of_seconds;

std::vector<Sample> sampled(SampleSeries series, Duration end) {
    while (series.due() <= end) {
        Sample sample;
        sample.at = series.due();
        series.add(sample);
    }
    return series.take();
}

TEST(SampleSeries, WhileJobsArriveEverySampleStays) {
    const std::vector<Sample> samples =
        sampled(SampleSeries(after_seconds(7), after_seconds(35'000)), after_seconds(35'000));
    ASSERT_EQ(samples.size(), 5001U);
    for (std::size_t i = 0; i < samples.size(); ++i)
        EXPECT_EQ(samples[i].at, after_seconds(static_cast<std::int64_t>(i) * 7));
}

TEST(SampleSeries, AfterTheLastArrivalTheStepDoublesInsteadOfTheNumberOfSamples) {
    const std::vector<Sample> samples =
        sampled(SampleSeries(after_seconds(1), after_seconds(60)), after_seconds(864'000));
    EXPECT_EQ(samples[60].at, after_seconds(60));
    const std::size_t after = samples.size() - 61;
    EXPECT_GE(after, SampleSeries::kMostAfter / 2);
    EXPECT_LE(after, SampleSeries::kMostAfter);
    const std::int64_t step = samples[62].at.us - samples[61].at.us;
    for (std::size_t i = 62; i < samples.size(); ++i)
        EXPECT_EQ(samples[i].at.us - samples[i - 1].at.us, step) << "as dense everywhere";
    EXPECT_GT(samples.back().at.us + step, after_seconds(864'000).us) << "up to the end";
}

TEST(SampleSeries, TenThousandYearsAreNoMoreSamplesThanADay) {
    const Duration end = after_seconds(std::int64_t{10'000} * 366 * 86'400);
    EXPECT_LE(sampled(SampleSeries(after_seconds(1), {}), end).size(), 1 + SampleSeries::kMostAfter);
}

TEST(SampleStep, IsAFiveHundredthOfTheTimeInWhichJobsArrive) {
    JobTrace trace;
    trace.jobs.resize(2);
    trace.jobs.back().submit = after_seconds(50'000);
    EXPECT_EQ(sample_step(trace, {}), after_seconds(100));
    EXPECT_EQ(sample_step(trace, after_seconds(5'000)), after_seconds(10)) << "jobs that arrive after the end do not";
    EXPECT_EQ(sample_step(trace, after_seconds(5'000'000)), after_seconds(100));
    trace.jobs.back().submit = after_seconds(60);
    EXPECT_EQ(sample_step(trace, {}), after_seconds(1)) << "never below a second";
}

}  // namespace
}  // namespace reprieve
