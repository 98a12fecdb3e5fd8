// Embedded metrics: what is taken from a log line and what is not.
#include "cloud/metric_emf.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cloud/metric_usage.hpp"

namespace headroom::cloud {
namespace {

struct Lines : testing::Test {
  base::FakeClock clock{base::WallTime{std::chrono::seconds{1'800'000'000}}};
  MetricStore store{clock};
  double value(const MetricKey& key, StatKind kind) {
    const auto points = store.query(key, {kind}, 60, clock.wall() - std::chrono::seconds(60),
                                    clock.wall() + std::chrono::seconds(60));
    return points.empty() ? -1 : points[0].value;
  }
};

TEST_F(Lines, BecomeMetricsOfEachDimensionSet) {
  const std::string line =
      R"({"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"Headroom","Dimensions":[["E"],["E","V"]],)"
      R"("Metrics":[{"Name":"Offered","Unit":"Count"},{"Name":"Times","Unit":"Milliseconds"},{"Name":"Absent"}]}]},)"
      R"("E":"e","V":"v","Offered":12,"Times":[1,2,6]})";
  EXPECT_EQ(take_embedded_metrics(store, line), 4);
  EXPECT_EQ(value(make_key("Headroom", "Offered", {{"E", "e"}}), StatKind::kSum), 12);
  const auto times = make_key("Headroom", "Times", {{"V", "v"}, {"E", "e"}});
  EXPECT_EQ(value(times, StatKind::kAverage), 3);
  EXPECT_EQ(value(times, StatKind::kSampleCount), 3);
  EXPECT_EQ(store.unit(times), "Milliseconds");
}

// With N = 10 an instance writes a line a second, of counts as if each second had been ten.
TEST_F(Lines, OfFasterTimeGiveAlarmsAndClientsTheSameRate) {
  store.run_faster(10);
  const MetricKey key = make_key("Headroom", "Offered", {});
  const auto begin = clock.wall();
  for (int second = 0; second < 60; ++second) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch());
    EXPECT_EQ(take_embedded_metrics(
                  store, R"({"_aws":{"Timestamp":)" + std::to_string(ms.count()) +
                             R"(,"CloudWatchMetrics":[{"Namespace":"Headroom","Dimensions":[[]],"Metrics":)"
                             R"([{"Name":"Offered","Unit":"Count"}]}]},"Offered":30})"),
              1);
    clock.advance(std::chrono::seconds(1));
  }
  const auto points = store.query(key, {StatKind::kSum}, 60, begin, clock.wall());
  ASSERT_EQ(points.size(), 1U);
  EXPECT_DOUBLE_EQ(points[0].value, 3.0 * 60);  // three a second
  EXPECT_DOUBLE_EQ(store.query(key, {StatKind::kSampleCount}, 60, begin, clock.wall())[0].value, 6);
  const auto now = static_cast<std::int64_t>(store.cloud_now_s());
  const auto minute = store.cloud_points(key, {StatKind::kSum}, 60, now - 60, now);
  EXPECT_EQ(minute, (capacity::TimeSeries{{now - 60, 180}}));
  EXPECT_EQ(store.cloud_points(key, {StatKind::kSampleCount}, 60, now - 60, now),
            (capacity::TimeSeries{{now - 60, 6}}));
}

TEST_F(Lines, OfAnotherTimeAreDropped) {
  for (const char* ms : {"1800007201000", "1798790399000", "9000000000000"}) {
    const std::string line = R"({"_aws":{"Timestamp":)" + std::string(ms) +
                             R"(,"CloudWatchMetrics":[{"Namespace":"N","Metrics":[{"Name":"a"}]}]},"a":1})";
    EXPECT_EQ(take_embedded_metrics(store, line), 0) << ms;
  }
  EXPECT_TRUE(store.list().empty());
}

TEST_F(Lines, ThatAreNoMetricsAreNoMetrics) {
  for (
      const char* line :
      {"", "plain", "{\"_aws\"", "{\"_aws\":1}", "{\"_aws\":{}}",
       R"({"_aws":{"Timestamp":"x","CloudWatchMetrics":[]}})",
       R"({"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"AWS/X","Metrics":[{"Name":"a"}]}]},"a":1})",
       R"({"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"N","Dimensions":[["D"]],"Metrics":[{"Name":"a"}]}]},"a":1})",
       R"({"_aws":{"Timestamp":1800000000000,"CloudWatchMetrics":[{"Namespace":"N","Metrics":[{"Name":"a"}]}]},"a":"1"})"})
    EXPECT_EQ(take_embedded_metrics(store, line), 0) << line;
  EXPECT_TRUE(store.list().empty());
}

TEST(Usage, OfThisProcessIsSeenFromTheSecondSampleOn) {
  UsageSampler sampler;
  const auto now = base::SteadyTime{std::chrono::hours{1}};
  const auto first = sampler.sample(getpid(), now);
  EXPECT_FALSE(first.cpu_percent);
  ASSERT_TRUE(first.memory_percent);
  EXPECT_GT(*first.memory_percent, 0);
  const auto second = sampler.sample(getpid(), now + std::chrono::seconds(1));
  ASSERT_TRUE(second.cpu_percent);
  EXPECT_GE(*second.cpu_percent, 0);
  EXPECT_FALSE(sampler.sample(0x7ffffff0, now).memory_percent);
}

}  // namespace
}  // namespace headroom::cloud
