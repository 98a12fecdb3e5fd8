// Judging one rung.
#include "capacity/rung.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

using ::testing::HasSubstr;

struct Evidence {
  std::vector<double> ttfab = std::vector<double>(200, 1000.0);
  std::vector<double> in_flight = std::vector<double>(200, 20.0);
  RungEvidence e;
  RungEvidence get() {
    e.ttfab_ms = ttfab;
    e.in_flight = in_flight;
    if (e.counts.started == 0) e.counts = {200, 200, 0, 0, 0, 0};
    return e;
  }
};

TEST(Rung, PassesUpToTheSloAndFailsAboveIt) {
  Evidence x;
  x.e.slo_ms = 1000;
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kPass);
  x.e.slo_ms = 999.9;
  const auto judged = judge_rung(x.get());
  EXPECT_EQ(judged.verdict, RungVerdict::kFail);
  EXPECT_THAT(judged.reason, HasSubstr("1000.0 ms misses the SLO"));
}

TEST(Rung, With3040AtAnSloOf3000NeverPasses) {
  Evidence x;
  x.ttfab.assign(180, 2000.0);
  x.ttfab.insert(x.ttfab.end(), 20, 3040.0);
  // Late samples last would look like a trend; spread them.
  for (std::size_t i = 0; i < 20; ++i) std::swap(x.ttfab[i * 10], x.ttfab[180 + i]);
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
}

TEST(Rung, WithMoreThanOnePercentRefusedIsSaturatedWhateverItsLatency) {
  Evidence x;
  x.e.counts = {1000, 989, 11, 0, 0, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kSaturated);
  x.e.counts = {1000, 990, 10, 0, 0, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kPass);
}

TEST(Rung, WithMoreThanOnePercentFailedOrTimedOutFailsWhateverItsLatency) {
  Evidence x;
  x.e.counts = {1000, 989, 0, 6, 5, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
  EXPECT_THAT(judge_rung(x.get()).reason, HasSubstr("11 of 1000 requests failed or timed out (6 and 5)"));
  x.e.counts = {1000, 990, 0, 5, 5, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kPass);
  // Of those that ended: what is still open says nothing yet.
  x.e.counts = {1000, 490, 0, 5, 1, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
}

TEST(RungOutcomes, OneLostOrRefusedOfAFirstLookIsNoProofYetForbidsAPass) {
  Evidence x;
  x.ttfab.assign(29, 640.0);
  x.in_flight.assign(29, 1.0);
  x.e.counts = {30, 29, 0, 0, 1, 0};
  EXPECT_FALSE(judge_outcomes(x.get()));
  EXPECT_THAT(*unproven_share(x.get()), HasSubstr("1 of 30 requests failed or timed out"));
  x.e.counts = {30, 29, 1, 0, 0, 0};
  EXPECT_FALSE(judge_outcomes(x.get()));
  EXPECT_THAT(*unproven_share(x.get()), HasSubstr("1 of 30 requests were refused"));
  x.e.counts = {200, 199, 1, 0, 0, 0};
  EXPECT_FALSE(unproven_share(x.get()));
  // The published ladder judges once, as counted.
  x.e.counts = {30, 29, 0, 0, 1, 0};
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
}

TEST(RungOutcomes, OverloadIsToldAtOnce) {
  Evidence x;
  x.e.counts = {60, 50, 10, 0, 0, 0};
  EXPECT_EQ(judge_outcomes(x.get())->verdict, RungVerdict::kSaturated);
  x.e.counts = {60, 50, 0, 10, 0, 0};
  EXPECT_EQ(judge_outcomes(x.get())->verdict, RungVerdict::kFail);
}

TEST(RungOutcomes, AShareIsProvenByThreeEventsAndTheBinomialBound) {
  EXPECT_FALSE(share_is_proven(0, 0));
  EXPECT_FALSE(share_is_proven(2, 2));
  EXPECT_TRUE(share_is_proven(3, 3));
  EXPECT_FALSE(share_is_proven(3, 30));  // 1 %: by chance in 0.33 %
  EXPECT_TRUE(share_is_proven(4, 30));   // in 0.02 %
  EXPECT_FALSE(share_is_proven(12, 1000));
  EXPECT_TRUE(share_is_proven(25, 1000));
  EXPECT_FALSE(share_is_proven(10'000, 1'000'000));
  EXPECT_TRUE(share_is_proven(11'000, 1'000'000));
}

TEST(RungOutcomes, OneRequestThatHangsProvesNothing) {
  Evidence x;
  x.ttfab.assign(9, 2000.0);
  x.in_flight.assign(9, 1.0);
  x.e.counts = {9, 9, 0, 0, 0, 0};
  x.e.overdue = 1;  // one outstanding, at the end of a hold of 20 s
  EXPECT_FALSE(judge_outcomes(x.get()));
  EXPECT_TRUE(overdue_reason(x.get()));  // and no pass either
  x.ttfab.clear();
  x.e.counts = {0, 0, 0, 0, 0, 0};
  EXPECT_FALSE(judge_outcomes(x.get()));
  x.e.counts = {1, 0, 0, 0, 1, 0};
  EXPECT_FALSE(judge_outcomes(x.get()));
  x.e.counts = {3, 0, 0, 0, 3, 0};  // three timeouts, one after the other
  EXPECT_EQ(judge_outcomes(x.get())->verdict, RungVerdict::kFail);
}

TEST(Rung, WithMoreThanFivePercentOverdueDoesNotPass) {
  Evidence x;
  x.e.counts = {198, 190, 0, 0, 0, 0};
  x.e.overdue = 10;
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kPass);
  x.e.overdue = 11;
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
  EXPECT_EQ(judge_rung(x.get()).reason, "11 requests wait longer than the SLO without an answer");
  EXPECT_FALSE(judge_outcomes(x.get()));  // they may yet be answered
}

TEST(Rung, JudgesNothingWhenTheDriverOrTheFleetWasTheLimit) {
  Evidence x;
  x.e.client_bound = true;
  x.e.client_bound_why = "CPU 97 %";
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kClientBound);
  EXPECT_THAT(judge_rung(x.get()).reason, HasSubstr("CPU 97 %"));
  x.e.capacity_changed = true;
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kCapacityChanged);
  EXPECT_FALSE(judges(RungVerdict::kClientBound));
}

TEST(Rung, ThatStillMovesIsUnstable) {
  Evidence x;
  for (std::size_t i = 0; i < x.ttfab.size(); ++i) x.ttfab[i] = 1000 + static_cast<double>(i);
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kUnstable);
  Evidence y;
  for (std::size_t i = 0; i < y.in_flight.size(); ++i) y.in_flight[i] = 10 + 0.05 * static_cast<double>(i);
  EXPECT_EQ(judge_rung(y.get()).verdict, RungVerdict::kUnstable);
}

TEST(Rung, WithoutASuccessFailsAndSaysSo) {
  Evidence x;
  x.ttfab.clear();
  x.e.counts = {200, 0, 0, 0, 200, 0};
  EXPECT_THAT(judge_rung(x.get()).reason, HasSubstr("no successful request"));
  x.ttfab.assign(100, std::nan(""));
  EXPECT_EQ(judge_rung(x.get()).verdict, RungVerdict::kFail);
}

TEST(Rung, VerdictsHaveNamesBothWays) {
  for (const char* name :
       {"pass", "fail", "undecided", "unstable", "saturated", "client_bound", "capacity_changed", "degraded"})
    EXPECT_EQ(verdict_name(*parse_rung_verdict(name)), name);
  EXPECT_FALSE(parse_rung_verdict("passed"));
}

TEST(Counts, BalanceAndAdd) {
  Counts a{10, 4, 3, 2, 1, 0};
  EXPECT_TRUE(a.balanced());
  a += Counts{1, 0, 0, 0, 0, 1};
  EXPECT_TRUE(a.balanced());
  a.started++;
  EXPECT_FALSE(a.balanced());
}

TEST(Drift, IsRelativeToTheFirst) {
  EXPECT_DOUBLE_EQ(drift_between(60, 78), 0.3);
  EXPECT_DOUBLE_EQ(drift_between(60, 42), 0.3);
  EXPECT_EQ(drift_between(0, 5), 0);
}

}  // namespace
}  // namespace headroom::capacity
