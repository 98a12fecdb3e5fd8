// Live phases: their loads, times and verdicts.
#include "bench/live_phases.hpp"

#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

capacity::Plan published() {
  capacity::Plan plan;
  plan.rule = capacity::Rule::kPublished;
  plan.policy.carrier = capacity::Carrier::kConcurrency;
  plan.scale_out_target = 37.5;
  plan.calibration_ratio = 1;
  plan.headroom = 1.25;
  plan.queue_limit = 50;
  plan.min_instances = 1;
  plan.max_instances = 9;
  plan.scale_out_cooldown_s = 30;
  plan.scale_in_cooldown_s = 960;
  return plan;
}

TEST(LivePhases, LoadsLieOnTheirSideOfTheLine) {
  const auto live = plan_live(published(), 320);
  ASSERT_TRUE(live);
  EXPECT_EQ(live->calm.outstanding, 30);
  EXPECT_GT(live->cross.outstanding, 37.5);
  EXPECT_LT(live->cross.outstanding, 75);  // a doubled line is not crossed
  ASSERT_TRUE(live->quiet);
  EXPECT_EQ(live->quiet->outstanding, 18);
  EXPECT_EQ(live->below_limit, 40);
  EXPECT_EQ(live->above_limit, 71);
  EXPECT_EQ(live->surge_count, 3);
  EXPECT_GT(live->surge.outstanding, 75);   // two instances are not enough
  EXPECT_LT(live->surge.outstanding, 112);  // three are
  EXPECT_EQ(live->arrive_s, 340);
}

TEST(LivePhases, RatesAreOpenLoopAndSmallLinesAreStillCrossed) {
  auto plan = published();
  plan.policy.carrier = capacity::Carrier::kOfferedRate;
  plan.policy.rate_per_instance_rps = 14.3;
  plan.scale_out_target = 14.3;
  auto live = plan_live(plan, 320);
  ASSERT_TRUE(live);
  EXPECT_EQ(live->cross.outstanding, 0);
  EXPECT_NEAR(live->calm.rate_rps, 11.44, 1e-9);
  EXPECT_GT(live->cross.rate_rps, 14.3);
  plan.policy.carrier = capacity::Carrier::kNative;
  plan.scale_out_target = 0.9;
  live = plan_live(plan, 320);
  ASSERT_TRUE(live);
  EXPECT_NEAR(live->calm.rate_rps, 11.44, 1e-9);  // no whole number of requests lies below 0.9
  EXPECT_EQ(live->cross.outstanding, 1);          // above 0.9, below 1.8
  EXPECT_EQ(live->surge.outstanding, 2);          // above two instances' lines
}

TEST(LivePhases, AFixedFleetIsRefused) {
  auto plan = published();
  plan.max_instances = 1;
  EXPECT_FALSE(plan_live(plan, 320));
}

TEST(LivePhases, ScaleOutNamesWhatDidNotCome) {
  const auto live = plan_live(published(), 320);
  ASSERT_TRUE(live);
  EXPECT_TRUE(judge_scale_out(*live, {{0, 1, 1}, {40, 2, 1}, {300, 2, 2}}).passed());
  EXPECT_FALSE(judge_scale_out(*live, {{0, 1, 1}, {40, 2, 1}, {400, 2, 2}}).passed());
  const auto none = judge_scale_out(*live, {{0, 1, 1}, {340, 1, 1}});
  EXPECT_FALSE(none.passed());
  EXPECT_EQ(none.found, "no capacity was asked for");
  EXPECT_NE(judge_scale_out(*live, {{0, 1, 1}, {340, 2, 1}}).found.find("did not come"), std::string::npos);
}

TEST(LivePhases, AnAlarmThatRingsAtHalfTheLineFailsScaleOut) {
  const auto live = plan_live(published(), 320);
  ASSERT_TRUE(live);
  EXPECT_FALSE(judge_quiet(*live, {{0, 1, 1}, {50, 1, 1}}));
  EXPECT_FALSE(judge_quiet(*live, {}));
  const auto wrong = judge_quiet(*live, {{0, 1, 1}, {31, 2, 1}});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->id, "scale_out");
  EXPECT_FALSE(wrong->passed());
  EXPECT_EQ(wrong->found, "2 instances asked for at half the line, after 31 s");
  auto small = published();
  small.scale_out_target = 0.75;  // one outstanding request lies above it
  EXPECT_FALSE(plan_live(small, 320)->quiet);
}

TEST(LivePhases, ASurgeNeedsItsCountAndNoMoreThanTheMaximum) {
  const auto live = plan_live(published(), 320);
  ASSERT_TRUE(live);
  EXPECT_TRUE(judge_surge(*live, {{0, 2, 2}, {400, 3, 3}}, 9).passed());
  EXPECT_FALSE(judge_surge(*live, {{0, 2, 2}, {400, 2, 2}}, 9).passed());
  EXPECT_FALSE(judge_surge(*live, {{0, 2, 2}, {400, 10, 3}}, 9).passed());
}

TEST(LivePhases, ScaleInIsSlowAndNeverTurns) {
  const auto live = plan_live(published(), 320);
  ASSERT_TRUE(live);
  EXPECT_TRUE(judge_scale_in(*live, {{0, 3, 3}, {200, 2, 3}, {1170, 1, 2}, {1180, 1, 1}}, 10).passed());
  const auto quick = judge_scale_in(*live, {{0, 3, 3}, {200, 2, 3}, {260, 1, 2}}, 10);
  EXPECT_FALSE(quick.passed());
  EXPECT_NE(quick.found.find("apart"), std::string::npos);
  EXPECT_FALSE(
      judge_scale_in(*live, {{0, 3, 3}, {200, 2, 2}, {300, 3, 3}, {1300, 2, 2}, {1400, 1, 1}}, 10).passed());
  EXPECT_FALSE(judge_scale_in(*live, {{0, 3, 3}, {1500, 2, 2}}, 10).passed());
  EXPECT_FALSE(judge_scale_in(*live, {{0, 3, 3}, {200, 1, 1}}, 10).passed());  // two at once
  EXPECT_FALSE(judge_scale_in(*live, {{0, 1, 1}, {10, 1, 1}}, 10).passed());   // there was nothing to see
  EXPECT_FALSE(judge_scale_in(*live, {{0, 2, 2}, {200, 1, 2}}, 10).passed());  // it never left
  // What the surge's last datapoints still add is no turn, and gets its own time.
  EXPECT_TRUE(judge_scale_in(*live, {{0, 2, 2}, {20, 3, 3}, {250, 2, 2}, {1270, 1, 1}}, 10).passed());
}

FleetCourse course_of(int good, int missing) {
  FleetCourse course;
  for (int i = 0; i < good; ++i) course.add({static_cast<double>(i), 1, 1});
  for (int i = 0; i < missing; ++i) course.miss(good + i, "throttled");
  return course;
}

TEST(LivePhases, AReadingThatFailedIsMissingAndNoValue) {
  PhaseResult failed;
  failed.id = "scale_out";
  failed.found = "no capacity was asked for";
  EXPECT_EQ(unless_unread(failed, course_of(20, 0), 10).verdict, PhaseVerdict::kFailed);
  EXPECT_EQ(unless_unread(failed, course_of(20, 5), 10).verdict, PhaseVerdict::kFailed);
  const auto unread = unless_unread(failed, course_of(20, 6), 10);
  EXPECT_EQ(unread.verdict, PhaseVerdict::kInconclusive);
  EXPECT_NE(unread.found.find("6 of 26 readings"), std::string::npos) << unread.found;
  EXPECT_NE(unread.found.find("throttled"), std::string::npos) << unread.found;
  EXPECT_NE(unread.remedy.find("--phases scale_out"), std::string::npos) << unread.remedy;
  failed.pass_if(true);  // no pass either: what was not read may have been a turn
  EXPECT_EQ(unless_unread(failed, course_of(20, 6), 10).verdict, PhaseVerdict::kInconclusive);
}

TEST(LivePhases, OneLongGapIsTooMuchAlsoWhereItIsOneReading) {
  FleetCourse course = course_of(100, 0);
  course.miss(129, "did not answer in time");
  course.add({130, 1, 1});
  EXPECT_EQ(course.longest_gap_s, 31);
  PhaseResult passed;
  passed.pass_if(true);
  EXPECT_TRUE(unless_unread(passed, course, 60).passed());
  EXPECT_EQ(unless_unread(passed, course, 10).verdict, PhaseVerdict::kInconclusive);
  EXPECT_EQ(unless_unread(passed, course_of(0, 1), 10).verdict, PhaseVerdict::kInconclusive);
}

TEST(LivePhases, AFleetThatNothingMadeGrowSaysNothingOfScalingIn) {
  LivePlan plan;
  PhaseResult failed;
  failed.id = "scale_in";
  const auto still = unless_never_grown(failed, plan, {{0, 1, 1}, {10, 1, 1}});
  EXPECT_EQ(still.verdict, PhaseVerdict::kInconclusive);
  EXPECT_NE(still.remedy.find("--phases surge_absorption,scale_in"), std::string::npos) << still.remedy;
  EXPECT_EQ(unless_never_grown(failed, plan, {{0, 2, 2}, {10, 1, 1}}).verdict, PhaseVerdict::kFailed);
  EXPECT_NE(unless_unread(failed, course_of(4, 6), 10).remedy.find("--phases surge_absorption,scale_in"),
            std::string::npos);
}

TEST(LivePhases, ALateFirstReadingDoesNotMakeAPhaseShorter) {
  LivePlan plan;
  plan.arrive_s = 100;
  EXPECT_TRUE(judge_scale_out(plan, {{50, 1, 1}, {99, 2, 2}}).passed());
  EXPECT_FALSE(judge_scale_out(plan, {{50, 1, 1}, {120, 2, 2}}).passed());
}

TEST(LivePhases, WhereTheDriverWasTheLimitNothingIsJudged) {
  PhaseResult failed;
  failed.found = "p95 4000 ms of 30 requests";
  EXPECT_EQ(unless_client_bound(failed, "").verdict, PhaseVerdict::kFailed);
  const auto bound = unless_client_bound(failed, "it held 20.0 of 30.0 asked");
  EXPECT_EQ(bound.verdict, PhaseVerdict::kInconclusive);
  EXPECT_EQ(bound.found,
            "the driver was the limit: it held 20.0 of 30.0 asked; seen: p95 4000 ms of 30 requests");
  EXPECT_EQ(level_of(bound.verdict), "INCONCLUSIVE");
  EXPECT_EQ(level_of(PhaseVerdict::kPassed), "OK");
  EXPECT_EQ(level_of(PhaseVerdict::kFailed), "ERROR");
}

}  // namespace
}  // namespace headroom::bench
