// Stages from stamps in any order.
#include "capacity/ttotal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

using namespace std::chrono_literals;

// The published run, in ms since load_applied.
std::vector<Stamp> published() {
  return {{"in_service", 30002ms + 212807ms, StageKind::kBounded, 5},
          {"load_applied", 0ms},
          {"instance_logging", 30002ms + 180835ms},
          {"desired_set", 30002ms},
          {"container_started", 30002ms + 184559ms},
          {"framework_init", 30002ms + 184573ms},
          {"traffic_recovered", 30002ms + 260248ms, StageKind::kBounded, 10},
          {"weights_ready", 30002ms + 191048ms},
          {"warmup_done", 30002ms + 192094ms},
          {"ready", 30002ms + 192094ms}};
}

TEST(Stages, ComeOutInTimeOrderWithTheTimeBeforeTheClockApart) {
  const auto s = stages_from_stamps(published());
  ASSERT_TRUE(s);
  ASSERT_EQ(s->before_clock.size(), 1U);
  EXPECT_EQ(s->before_clock[0].to, "desired_set");
  EXPECT_DOUBLE_EQ(s->before_clock[0].s, 30.002);
  EXPECT_DOUBLE_EQ(*s->measured_total_s, 260.248);
  EXPECT_EQ(s->measured.front().from, "desired_set");
  EXPECT_EQ(s->measured.back().to, "traffic_recovered");
  EXPECT_EQ(s->measured.back().kind, StageKind::kBounded);
}

TEST(Stages, MeasuredSumToTheTotalAndNeverIncludeTheTimeBefore) {
  const auto s = stages_from_stamps(published());
  double sum = 0;
  for (const Stage& stage : s->measured) sum += stage.s;
  EXPECT_NEAR(sum, *s->measured_total_s, 1e-9);
}

TEST(Stages, MayBeAbsent) {
  const auto s = stages_from_stamps({{"desired_set", 1s}, {"traffic_recovered", 5s}});
  ASSERT_TRUE(s);
  ASSERT_EQ(s->measured.size(), 1U);
  EXPECT_EQ(s->measured_total_s, 4.0);
  EXPECT_TRUE(s->before_clock.empty());
}

TEST(Stages, HaveNoTotalWhenTrafficNeverRecovered) {
  const auto s = stages_from_stamps({{"desired_set", 1s}, {"in_service", 5s}});
  ASSERT_TRUE(s);
  EXPECT_FALSE(s->measured_total_s);
  EXPECT_EQ(s->measured.size(), 1U);
}

TEST(Stages, StampedAfterRecoveryBelongToNoSum) {
  const auto s = stages_from_stamps({{"desired_set", 1s}, {"traffic_recovered", 5s}, {"in_service", 6s}});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->measured_total_s, 4.0);
  ASSERT_EQ(s->after_recovery.size(), 1U);
  EXPECT_EQ(s->after_recovery[0].to, "in_service");
}

TEST(Stages, NeedTheStartOfTheClockAndEachNameOnce) {
  EXPECT_FALSE(stages_from_stamps({}));
  EXPECT_FALSE(stages_from_stamps({{"load_applied", 1s}}));
  EXPECT_FALSE(stages_from_stamps({{"desired_set", 1s}, {"ready", 2s}, {"ready", 3s}}));
}

TEST(Stages, OfEqualTimeStayInsideTheClock) {
  const auto s = stages_from_stamps({{"traffic_recovered", 1s}, {"ready", 1s}, {"desired_set", 1s}});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->measured.size(), 2U);
  EXPECT_EQ(s->measured_total_s, 0.0);
}

TEST(Lag, IsThePublishedBound) { EXPECT_EQ(policy_lag_bound_s(10, 3, 30), 60); }

TEST(Shares, NameTheirBase) {
  const Stage stage{"desired_set", "instance_logging", 180.835, std::nullopt, std::nullopt};
  EXPECT_EQ(share_sentence(stage, 260.248, 320.248),
            "instance_logging 180.8 s = 69.5 % of the measured 260.2 s, 56.5 % of T_total 320.2 s");
}

TEST(LargestStage, HasARemedyThatFitsIt) {
  const auto s = stages_from_stamps(published());
  const auto largest = largest_stage(s->measured);
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->to, "instance_logging");
  EXPECT_THAT(stage_remedy(largest->to), ::testing::HasSubstr("image"));
  EXPECT_FALSE(largest_stage({}));
}

}  // namespace
}  // namespace headroom::capacity
