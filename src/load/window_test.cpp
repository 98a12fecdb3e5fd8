// Tests of windows: the count equation, percentiles of successes alone, and who was the bottleneck.
#include "load/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::load {
namespace {

using testing::HasSubstr;

const base::SteadyTime kStart{std::chrono::hours{1}};
base::SteadyTime ms(double value) { return kStart + base::from_ms(value); }

Record record(double start_ms, double ttfab_ms, double end_ms, Outcome outcome = Outcome::kOk,
              std::string error = {}) {
  Record out;
  out.start = out.planned = ms(start_ms);
  out.end = ms(end_ms);
  if (ttfab_ms >= 0) out.first_byte = ms(start_ms + ttfab_ms);
  out.outcome = outcome;
  out.error = std::move(error);
  return out;
}

std::vector<const Record*> pointers(const std::vector<Record>& records) {
  std::vector<const Record*> out;
  for (const Record& one : records) out.push_back(&one);
  return out;
}

Sample sample(double at_ms, int in_flight, int waiting, int asked, int limit, double cpu_s) {
  return {ms(at_ms), in_flight, waiting, asked, limit, cpu_s, {}};
}

TEST(Window, SaysWhenEachOfItsTtfabsWasWaitedFor) {
  const std::vector<Record> records{record(0, 10, 20), record(2, -1, 30, Outcome::kRejected, "503"),
                                    record(5, 4, 40)};
  const auto view = view_window({pointers(records), {}, {}}, ms(0), ms(50), Basis::kEnded);
  ASSERT_EQ(view.ttfab_spans.size(), view.ttfab_samples_ms.size());
  EXPECT_EQ(view.ttfab_spans[1].from, ms(5));
  EXPECT_EQ(view.ttfab_spans[1].to, ms(9));
}

TEST(Window, CountsAddUpOnBothBases) {
  const std::vector<Record> records{
      record(0, 10, 20),
      record(5, -1, 30, Outcome::kRejected, "ModelError 503 queue_saturated: busy 1"),
      record(6, -1, 30, Outcome::kRejected, "ModelError 503 queue_saturated: busy 2"),
      record(7, 5, 31, Outcome::kFailed, "ModelStreamError: x"),
      record(8, -1, 90, Outcome::kTimedOut, "timed out"),
      record(9, 1, 40, Outcome::kAborted, "cancelled"),
      record(50, 1, 95)};
  const std::vector<Sample> samples;
  const std::vector<base::SteadyTime> open{ms(10), ms(60)};
  const auto started = view_window({pointers(records), samples, open}, ms(0), ms(50), Basis::kStarted);
  EXPECT_EQ(started.started, 7u);
  EXPECT_EQ(started.ok, 1u);
  EXPECT_EQ(started.rejected, 2u);
  EXPECT_EQ(started.timed_out, 1u);
  EXPECT_EQ(started.open, 1u);
  EXPECT_EQ(started.errors.at("ModelError 503 queue_saturated"), 2u);
  EXPECT_EQ(started.started, started.ok + started.rejected + started.failed + started.timed_out +
                                 started.aborted + started.open);
  const auto ended = view_window({pointers(records), samples, open}, ms(0), ms(50), Basis::kEnded);
  EXPECT_EQ(ended.started, 5u);
  EXPECT_EQ(ended.open, 0u);
  EXPECT_DOUBLE_EQ(ended.rps, 20.0);  // one success in 50 ms
}

TEST(Window, LatencyComesFromSuccessesAlone) {
  std::vector<Record> records;
  for (int i = 1; i <= 100; ++i) records.push_back(record(0, i, 200));
  records.push_back(record(0, 5'000, 201, Outcome::kFailed, "x"));
  const auto view = view_window({pointers(records), {}, {}}, ms(0), ms(1'000), Basis::kEnded);
  ASSERT_TRUE(view.ttfab_ms);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->p50, 50);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->p95, 95);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->p99, 99);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->max, 100);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->mean, 50.5);
}

TEST(Window, WithoutSuccessThereIsNoLatency) {
  const std::vector<Record> records{record(0, -1, 10, Outcome::kTimedOut, "timed out")};
  EXPECT_FALSE(view_window({pointers(records), {}, {}}, ms(0), ms(50), Basis::kEnded).ttfab_ms);
}

TEST(Window, AHealthyDriverIsNotBlamed) {
  const std::vector<Record> records{record(0, 500, 600)};
  const std::vector<Sample> samples{sample(0, 10, 0, 10, 10, 1.0), sample(100, 8, 2, 10, 10, 1.01),
                                    sample(200, 10, 0, 10, 10, 1.02)};
  const auto view = view_window({pointers(records), samples, {}}, ms(0), ms(1'000), Basis::kEnded);
  EXPECT_FALSE(view.client_bound) << view.client_bound_why;
  EXPECT_DOUBLE_EQ(view.in_flight_min, 8);
  EXPECT_DOUBLE_EQ(view.in_flight_max, 10);
  EXPECT_DOUBLE_EQ(view.held_mean, 10);
  EXPECT_NEAR(view.cpu_share, 0.1, 1e-9);
  EXPECT_EQ(view.over_limit, 0u);
}

TEST(Window, BlamesCpuHeldAndLag) {
  std::vector<Record> records{record(100, 50, 200)};
  records[0].planned = ms(80);
  const std::vector<Sample> samples{sample(0, 9, 0, 10, 10, 1.0), sample(100, 9, 0, 10, 8, 1.095)};
  const auto view = view_window({pointers(records), samples, {}}, ms(0), ms(1'000), Basis::kEnded);
  EXPECT_TRUE(view.client_bound);
  EXPECT_THAT(view.client_bound_why, HasSubstr("95.0 % of a core"));
  EXPECT_THAT(view.client_bound_why, HasSubstr("9.0 of 10.0"));
  EXPECT_THAT(view.client_bound_why, HasSubstr("20.0 ms late"));
  EXPECT_EQ(view.over_limit, 1u);
  EXPECT_THAT(
      view_window({pointers(records), samples, {}}, ms(0), ms(1'000), Basis::kEnded, 2).client_bound_why,
      testing::Not(HasSubstr("of a core")));
}

TEST(Window, BlamesALoopThatIsLateMostOfTheTime) {
  const std::vector<Record> records{record(0, 500, 600)};
  std::vector<Sample> samples;
  for (int i = 0; i < 11; ++i) {
    samples.push_back(sample(100.0 * i, 1, 0, 1, 1, 1.0));
    samples.back().loop_lag = std::chrono::milliseconds(i < 6 ? 25 : 0);
  }
  const auto bound = view_window({pointers(records), samples, {}}, ms(0), ms(2'000), Basis::kEnded);
  EXPECT_TRUE(bound.client_bound);
  EXPECT_THAT(bound.client_bound_why, HasSubstr("25.0 ms late"));
  samples[2].loop_lag = {};  // now only five of eleven
  EXPECT_FALSE(view_window({pointers(records), samples, {}}, ms(0), ms(2'000), Basis::kEnded).client_bound);
}

TEST(Window, AnOpenLoopCountsFromThePlanAndKeepsTheCapsWaitOutOfTheLag) {
  std::vector<Record> records{record(100, 50, 200)};
  records[0].open_loop = true;
  records[0].planned = ms(20);
  records[0].cap_wait = std::chrono::milliseconds(78);
  const auto view = view_window({pointers(records), {}, {}}, ms(0), ms(1'000), Basis::kEnded);
  EXPECT_DOUBLE_EQ(view.ttfab_ms->p50, 130);
  EXPECT_DOUBLE_EQ(view.total_ms->p50, 180);
  EXPECT_DOUBLE_EQ(view.cap_wait_ms->p50, 78);
  EXPECT_DOUBLE_EQ(view.lag_p95_ms, 2);
  EXPECT_EQ(view_window({pointers(records), {}, {}}, ms(50), ms(1'000), Basis::kStarted).started, 0u);
}

}  // namespace
}  // namespace headroom::load
