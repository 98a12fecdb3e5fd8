// Buckets, levels, statistics and publication of the metric store.
#include "cloud/metric_store.hpp"

#include <gtest/gtest.h>

namespace headroom::cloud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const MetricKey kKey =
    make_key("AWS/SageMaker", "ConcurrentRequestsPerModel", {{"VariantName", "v"}, {"EndpointName", "e"}});

struct Store : testing::Test {
  base::FakeClock clock{base::WallTime{seconds{1'800'000'000}}};
  base::WallTime start = clock.wall();
  MetricStore store{clock};

  std::vector<MetricPoint> ask(std::string_view statistic, std::int64_t period = 10) {
    return store.query(kKey, *parse_statistic(statistic), period, start - seconds(600),
                       clock.wall() + seconds(1));
  }
};

TEST_F(Store, ShowsALevelOnlyWhenItsBucketHasClosed) {
  store.add_source(kKey, "i-1");
  store.change_level(kKey, "i-1", 3);
  clock.advance(milliseconds(9'999));
  EXPECT_TRUE(ask("Maximum").empty());
  clock.advance(milliseconds(1));
  ASSERT_EQ(ask("Maximum").size(), 1U);
  EXPECT_EQ(ask("Maximum")[0].value, 3);
  EXPECT_EQ(ask("Maximum")[0].time_s, 1'800'000'000);
}

TEST_F(Store, CountsTheLevelCarriedOverIntoTheMaximum) {
  store.add_source(kKey, "i-1");
  store.change_level(kKey, "i-1", 5);
  clock.advance(seconds(11));
  store.change_level(kKey, "i-1", -5);
  clock.advance(seconds(9));
  const auto points = ask("Maximum");
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].value, 5);
  EXPECT_EQ(ask("Minimum")[1].value, 0);
  EXPECT_NEAR(ask("Average")[1].value, 0.5, 1e-9);
}

TEST_F(Store, WeighsTheAverageByTime) {
  store.add_source(kKey, "i-1");
  store.change_level(kKey, "i-1", 10);
  clock.advance(seconds(2));
  store.change_level(kKey, "i-1", -10);
  clock.advance(seconds(8));
  EXPECT_NEAR(ask("Average")[0].value, 2.0, 1e-9);
  EXPECT_EQ(ask("SampleCount")[0].value, 1);
}

TEST_F(Store, TakesTheBusiestInstanceForMaximumAndAllForSum) {
  store.add_source(kKey, "i-1");
  store.add_source(kKey, "i-2");
  store.change_level(kKey, "i-1", 4);
  store.change_level(kKey, "i-2", 2);
  clock.advance(seconds(10));
  EXPECT_EQ(ask("Maximum")[0].value, 4);
  EXPECT_NEAR(ask("Sum")[0].value, 6, 1e-9);
  EXPECT_NEAR(ask("Average")[0].value, 3, 1e-9);
  EXPECT_EQ(ask("SampleCount")[0].value, 2);
}

TEST_F(Store, YieldsZeroWhileAnIdleInstanceServesAndNothingAfterIt) {
  store.add_source(kKey, "i-1");
  clock.advance(seconds(20));
  EXPECT_EQ(ask("Maximum").size(), 2U);
  store.remove_source(kKey, "i-1");
  clock.advance(seconds(30));
  EXPECT_EQ(ask("Maximum").size(), 2U);
}

TEST_F(Store, ForgetsTheLevelsOfYesterdayAndTheRawReadingsOfThisMorning) {
  store.add_source(kKey, "i-1");
  clock.advance(std::chrono::hours(30));
  EXPECT_NEAR(static_cast<double>(ask("Maximum").size()), 24 * 360, 2);
  EXPECT_NEAR(static_cast<double>(ask("p50").size()), 3 * 360, 2);
}

TEST_F(Store, JoinsBucketsToLongerPeriods) {
  store.add_source(kKey, "i-1");
  for (int i = 1; i <= 6; ++i) {
    store.change_level(kKey, "i-1", 1);
    clock.advance(seconds(10));
  }
  const auto points = ask("Average", 60);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(points[0].value, 3.5, 1e-9);
  EXPECT_EQ(ask("Maximum", 60)[0].value, 6);
}

TEST_F(Store, ComputesPercentilesFromRawReadings) {
  for (int i = 1; i <= 100; ++i) store.record(kKey, i);
  clock.advance(seconds(10));
  EXPECT_EQ(ask("p95")[0].value, 95);
  EXPECT_EQ(ask("p50")[0].value, 50);
  EXPECT_EQ(ask("p100")[0].value, 100);
  EXPECT_EQ(ask("Sum")[0].value, 5050);
}

TEST_F(Store, ShowsCustomDataAtOnce) {
  store.put(kKey, one_reading(7), clock.wall(), "Count");
  ASSERT_EQ(ask("Maximum", 1).size(), 1U);
  EXPECT_EQ(store.unit(kKey), "Count");
}

TEST_F(Store, LeavesOutWhatBeginsAtTheEndOfTheRange) {
  store.put(kKey, one_reading(1), start, "");
  store.put(kKey, one_reading(2), start + seconds(10), "");
  EXPECT_EQ(store.query(kKey, *parse_statistic("Sum"), 10, start, start + seconds(10)).size(), 1U);
}

TEST_F(Store, KnowsNoPointOfAnUnknownMetric) {
  EXPECT_TRUE(store.query(make_key("x", "y", {}), {}, 10, start, clock.wall()).empty());
}

TEST(Statistic, RefusesWhatCloudWatchDoesNotHave) {
  for (const char* text : {"", "p", "p101", "p-1", "pNaN", "Median", "maximum"})
    EXPECT_FALSE(parse_statistic(text)) << text;
  EXPECT_EQ(parse_statistic("p99.9")->percentile, 99.9);
}

TEST_F(Store, RunsFasterForAlarmsAndInRealTimeForClients) {
  store.run_faster(30);
  const MetricKey invocations = make_key("AWS/SageMaker", "Invocations", {});
  store.add_source(kKey, "i-1");
  store.change_level(kKey, "i-1", 6);
  for (int i = 0; i < 20; ++i) {
    store.record(invocations, 1);
    clock.advance(milliseconds(1000));
  }
  const auto now = static_cast<std::int64_t>(store.cloud_now_s());
  EXPECT_EQ(now, 1'800'000'020LL * 30);
  // Clients: two periods of 10 s, as without run_faster.
  EXPECT_EQ(ask("Sum").size(), 2U);
  EXPECT_NEAR(ask("Sum")[0].value, 6, 1e-9);
  EXPECT_NEAR(ask("SampleCount")[1].value, 1, 1e-9);
  EXPECT_EQ(ask("Maximum")[1].time_s, 1'800'000'010);
  const auto counted = store.query(invocations, {StatKind::kSum}, 10, start, clock.wall());
  ASSERT_EQ(counted.size(), 2U);
  EXPECT_EQ(counted[0].value, 10);
  // Alarms: 60 cloud seconds are 2 real ones; one request a second is 60 in a minute.
  const auto minutes = store.cloud_points(invocations, {StatKind::kSum}, 60, now - 120, now);
  EXPECT_EQ(minutes, (capacity::TimeSeries{{now - 120, 60}, {now - 60, 60}}));
  const auto levels = store.cloud_points(kKey, {StatKind::kMaximum}, 10, now - 20, now);
  EXPECT_EQ(levels, (capacity::TimeSeries{{now - 20, 6}, {now - 10, 6}}));
  EXPECT_EQ(store.cloud_points(kKey, {StatKind::kSum}, 10, now - 10, now),
            (capacity::TimeSeries{{now - 10, 6}}));
}

TEST_F(Store, ComesBackFromItsJournal) {
  const MetricKey latency = make_key("AWS/SageMaker", "ModelLatency", {{"EndpointName", "e"}});
  for (const double value : {1.0, 2.0, 3.0}) store.record(latency, value);
  store.put(kKey, {10, 1, 4, 3, {}}, clock.wall(), "Count");
  std::string lines = store.take_journal();
  EXPECT_TRUE(store.take_journal().empty());
  clock.advance(seconds(20));
  store.record(latency, 9);
  lines += store.take_journal() + "[1,broken";
  MetricStore again(clock);
  again.replay(lines);
  clock.advance(seconds(10));
  const auto ask_both = [&](MetricStore& one, const MetricKey& key, const char* statistic) {
    std::vector<double> values;
    for (const auto& p : one.query(key, *parse_statistic(statistic), 10, start, clock.wall()))
      values.push_back(p.value);
    return values;
  };
  EXPECT_EQ(ask_both(again, latency, "p95"), (std::vector<double>{3, 9}));
  EXPECT_EQ(ask_both(again, latency, "Sum"), ask_both(store, latency, "Sum"));
  EXPECT_EQ(ask_both(again, kKey, "Average"), ask_both(store, kKey, "Average"));
  EXPECT_EQ(again.unit(kKey), "Count");
}

TEST_F(Store, ReadsNoSecondOfAFarFutureFromAJournal) {
  store.put(kKey, one_reading(1), clock.wall(), "");
  store.put(kKey, one_reading(5), clock.wall() + std::chrono::hours(3), "");  // a clock that was ahead
  MetricStore again(clock);
  again.replay(store.take_journal());
  clock.advance(std::chrono::hours(4));
  const auto points = again.query(kKey, *parse_statistic("Sum"), 10, start, clock.wall());
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].value, 1);
}

}  // namespace
}  // namespace headroom::cloud
