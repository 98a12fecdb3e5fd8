// Q_max, knee, calibration, curve.
#include "capacity/qmax.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/published_fixture.hpp"

namespace headroom::capacity {
namespace {

Rung rung(int n, RungVerdict verdict, double p95 = 100, double rps = 10) {
  Rung r;
  r.n = n;
  r.verdict = verdict;
  r.p95_ms = p95;
  r.rps = rps;
  return r;
}
constexpr auto kPass = RungVerdict::kPass;
constexpr auto kFail = RungVerdict::kFail;

TEST(Qmax, OfThePublishedLadderIs50) {
  const auto r = evaluate_qmax(test::published_ladder(), 3000);
  EXPECT_EQ(r.q_max, 50);
  EXPECT_EQ(r.first_fail, 60);
  EXPECT_EQ(r.verdict, QmaxVerdict::kBracketed);
  EXPECT_EQ(r.q_max_interval, (Interval{50, 59}));
  EXPECT_NEAR(*r.q_max_estimate, 53.4, 0.1);
  EXPECT_EQ(r.interval_method, "plain");
}

TEST(Qmax, IsALowerBoundWhenNothingFailed) {
  const std::vector rungs{rung(1, kPass), rung(5, kPass), rung(10, RungVerdict::kClientBound)};
  const auto r = evaluate_qmax(rungs, 3000);
  EXPECT_EQ(r.verdict, QmaxVerdict::kLowerBound);
  EXPECT_EQ(r.q_max, 5);
  EXPECT_FALSE(r.q_max_interval);
  EXPECT_THAT(r.sentence, ::testing::HasSubstr("LOWER BOUND"));
}

TEST(Qmax, IsUnknownWhenNothingPassed) {
  const std::vector rungs{rung(1, kFail), rung(5, kFail)};
  const auto r = evaluate_qmax(rungs, 3000);
  EXPECT_EQ(r.verdict, QmaxVerdict::kNone);
  EXPECT_FALSE(r.q_max);
  EXPECT_EQ(r.first_fail, 1);
  EXPECT_EQ(evaluate_qmax({}, 3000).verdict, QmaxVerdict::kNone);
}

TEST(Qmax, SaysThatNothingWasJudged) {
  const std::vector rungs{rung(1, RungVerdict::kClientBound), rung(5, RungVerdict::kUnstable)};
  const auto r = evaluate_qmax(rungs, 3000);
  EXPECT_TRUE(nothing_judged(r));
  EXPECT_THAT(r.sentence, ::testing::HasSubstr("No rung judged anything (1 client_bound, 5 unstable)"));
  EXPECT_TRUE(nothing_judged(evaluate_qmax({}, 3000)));
  EXPECT_FALSE(nothing_judged(evaluate_qmax(std::vector{rung(1, kFail)}, 3000)));
  EXPECT_FALSE(nothing_judged(evaluate_qmax(std::vector{rung(1, RungVerdict::kSaturated)}, 3000)));
  EXPECT_FALSE(nothing_judged(evaluate_qmax(std::vector{rung(1, kPass)}, 3000)));
}

TEST(LastHolds, LeavesOutAHoldThatWasRepeatedForItselfAndKeepsRepeatsApart) {
  auto again = rung(1, RungVerdict::kDegraded);
  again.repeat = true;
  const std::vector rungs{rung(5, RungVerdict::kUnstable), rung(1, kPass), rung(5, kPass), again};
  const auto last = last_holds(rungs);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].verdict, kPass);
  EXPECT_EQ(last[1].n, 5);
  EXPECT_EQ(last[1].verdict, kPass);
  EXPECT_EQ(last[2].verdict, RungVerdict::kDegraded);
}

TEST(Qmax, DoesNotTrustAPassAboveAFailure) {
  const std::vector rungs{rung(30, kPass), rung(10, kPass), rung(20, kFail, 3100)};
  EXPECT_EQ(evaluate_qmax(rungs, 3000).q_max, 10);
}

TEST(Qmax, EndsAtARungThatTheServerRefused) {
  const std::vector rungs{rung(1, kPass), rung(2, RungVerdict::kSaturated, 50)};
  const auto r = evaluate_qmax(rungs, 3000);
  EXPECT_EQ(r.q_max, 1);
  EXPECT_EQ(r.first_fail, 2);
  EXPECT_EQ(r.q_max_estimate, 1);
}

TEST(Qmax, LeavesOutRepeats) {
  auto repeat = rung(1, kFail, 9000);
  repeat.repeat = true;
  const std::vector rungs{rung(1, kPass), repeat};
  EXPECT_EQ(evaluate_qmax(rungs, 3000).q_max, 1);
}

TEST(Runs, TheSmallestCountsAndAWideSpreadWarns) {
  std::vector<QmaxResult> runs(3);
  runs[0].q_max = 50;
  runs[1].q_max = 40;
  runs[2].q_max = 47;
  EXPECT_EQ(choose_run(runs).chosen, 1U);
  EXPECT_DOUBLE_EQ(*choose_run(runs).spread, 0.25);
  EXPECT_TRUE(choose_run(runs).spread_warns);
  runs[1].q_max = 45;
  EXPECT_FALSE(choose_run(runs).spread_warns);
  runs[2].q_max.reset();
  EXPECT_EQ(choose_run(runs).chosen, 2U);
  EXPECT_FALSE(choose_run(std::span(runs).first(1)).spread);
}

TEST(Knee, OfThePublishedLadderIs5) {
  EXPECT_EQ(knee(test::published_ladder()), 5);
  EXPECT_FALSE(knee({}));
}

TEST(Knee, IgnoresRungsTheDriverLimited) {
  const std::vector rungs{rung(1, kPass, 1, 10), rung(2, RungVerdict::kClientBound, 1, 100)};
  EXPECT_EQ(knee(rungs), 1);
}

TEST(Calibration, IsTheMedianOfWhatIsKnown) {
  std::vector<Rung> rungs(4);
  rungs[0].metric_ratio = 1.0;
  rungs[1].metric_ratio = 0.98;
  rungs[2].metric_ratio = std::nan("");
  EXPECT_EQ(calibration_ratio(rungs), 0.98);
  rungs[3].metric_ratio = 1.5;
  EXPECT_EQ(calibration_ratio(rungs), 1.0);
  EXPECT_FALSE(calibration_ratio(std::vector<Rung>(3)));
}

TEST(TtotalLoad, IsTheLargestEvenNumberUpToTen) {
  EXPECT_EQ(ttotal_load(50), 10);
  EXPECT_EQ(ttotal_load(9), 8);
  EXPECT_EQ(ttotal_load(2), 2);
  EXPECT_FALSE(ttotal_load(1));
}

TEST(Curve, GivesTheOutstandingCountOfARate) {
  const auto ladder = test::published_ladder();
  EXPECT_DOUBLE_EQ(*outstanding_at(ladder, 16.08), 1);
  EXPECT_DOUBLE_EQ(*outstanding_at(ladder, 8.04), 0.5);
  EXPECT_NEAR(*outstanding_at(ladder, 17), 1 + 4 * (17 - 16.08) / (17.9 - 16.08), 1e-9);
  EXPECT_FALSE(outstanding_at(ladder, 18));
}

Rung hold_of(int n, RungVerdict verdict, double p95_ms, bool repeat = false) {
  Rung rung;
  rung.n = n;
  rung.verdict = verdict;
  rung.p95_ms = p95_ms;
  rung.repeat = repeat;
  return rung;
}

TEST(LatencyCurve, TakesTheLastHoldOfACountAndOnlyWhatJudged) {
  const std::vector<Rung> rungs{hold_of(5, RungVerdict::kUnstable, 9000), hold_of(5, RungVerdict::kPass, 500),
                                hold_of(10, RungVerdict::kClientBound, 9000),
                                hold_of(20, RungVerdict::kUndecided, 2900),
                                hold_of(30, RungVerdict::kSaturated, 100)};
  const auto curve = latency_curve(rungs);
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].p95_ms, 500);
  EXPECT_EQ(curve[1].n, 20);
}

TEST(DoubtfulHolds, AreWhatJudgedNothingAndASustainThatFailed) {
  std::vector<Rung> rungs{hold_of(1, RungVerdict::kPass, 60), hold_of(5, RungVerdict::kUnstable, 300),
                          hold_of(5, RungVerdict::kPass, 300), hold_of(60, RungVerdict::kFail, 3400),
                          hold_of(50, RungVerdict::kPass, 2900, true)};
  EXPECT_TRUE(doubtful_holds(rungs).empty());  // the unstable one was held again
  rungs.push_back(hold_of(10, RungVerdict::kClientBound, 600));
  ASSERT_EQ(doubtful_holds(rungs).size(), 1U);
  EXPECT_FALSE(doubtful_holds(rungs)[0].sustain_failed);
  rungs.push_back(hold_of(50, RungVerdict::kFail, 3300, true));
  ASSERT_EQ(doubtful_holds(rungs).size(), 2U);
  EXPECT_TRUE(doubtful_holds(rungs)[1].sustain_failed);
}

}  // namespace
}  // namespace headroom::capacity
