// A clock that is read again: later, after the wall clock was set, after the machine started anew.
#include "bench/ttotal_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

using namespace std::chrono_literals;
using ::testing::DoubleNear;
using ::testing::Optional;

const Moment kStart{base::SteadyTime(1000s), base::WallTime(1'800'000'000s)};

RunningClock a_clock() {
  RunningClock clock;
  clock.freeze_run = "run";
  clock.desired_set = kStart;
  clock.load_applied = kStart.steady - 42s;
  clock.asked_after = kStart.steady - 300ms;
  clock.resolution_s = 1.1;
  clock.observed = true;
  clock.load = 10;
  clock.wanted = 3;
  clock.config_name = "first";
  clock.baseline_p95_ms = 250;
  clock.old_streams = {"AllTraffic/i-1"};
  return clock;
}

Moment later(base::Duration by, base::Duration wall_set_by = 0s) {
  return {kStart.steady + by, kStart.wall + by + wall_set_by};
}

TEST(RunningClock, IsReadAgainAsItWasWritten) {
  const auto again = parse_clock(clock_text(a_clock(), "boot"), "boot", later(60s));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->desired_set.steady, kStart.steady);
  EXPECT_EQ(again->desired_set.wall, kStart.wall);
  EXPECT_EQ(again->asked_after, kStart.steady - 300ms);
  EXPECT_EQ(again->freeze_run, "run");
  EXPECT_EQ(again->load, 10);
  EXPECT_EQ(again->wanted, 3);
  EXPECT_EQ(again->old_streams, a_clock().old_streams);
  EXPECT_THAT(again->lag_s(), Optional(DoubleNear(42, 1e-6)));
  EXPECT_FALSE(again->by_wall);
}

TEST(RunningClock, DoesNotMoveWithAWallClockThatWasSet) {
  for (const auto set_by : {-3600s, 3600s}) {
    const auto again = parse_clock(clock_text(a_clock(), "boot"), "boot", later(60s, set_by));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->desired_set.steady, kStart.steady);
    EXPECT_THAT(again->lag_s(), Optional(DoubleNear(42, 1e-6)));
  }
}

TEST(RunningClock, GoesByTheWallWhereTheMachineStartedAnewAndKeepsItsLag) {
  const Moment now{base::SteadyTime(5s), kStart.wall + 90s};
  for (const char* boot : {"another", ""}) {
    const auto again = parse_clock(clock_text(a_clock(), boot), "boot", now);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->by_wall);
    EXPECT_EQ(again->desired_set.steady, now.steady - 90s);
    EXPECT_THAT(again->lag_s(), Optional(DoubleNear(42, 1e-6)));
  }
}

TEST(RunningClock, NeverStartsInTheFuture) {
  const auto again = parse_clock(clock_text(a_clock(), "another"), "boot", later(60s, -3600s));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->desired_set.steady, kStart.steady + 60s);
}

TEST(RunningClock, HasALagOnlyWhereThePolicyAsked) {
  auto clock = a_clock();
  clock.observed = false;
  const auto again = parse_clock(clock_text(clock, "boot"), "boot", later(1s));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->lag_s());
}

TEST(RunningClock, IsNotReadFromAnythingElse) {
  for (const char* text :
       {"", "{}", "[]", R"({"schema":"headroom/ttotal-clock"})", R"({"schema":"headroom/freeze"})"})
    EXPECT_FALSE(parse_clock(text, "boot", later(1s))) << text;
  auto clock = a_clock();
  clock.wanted = 1;
  EXPECT_FALSE(parse_clock(clock_text(clock, "boot"), "boot", later(1s)));
}

TEST(BootId, IsKnownAndStays) {
  EXPECT_FALSE(boot_id().empty());
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace headroom::bench
