// Judging one rung by the bound: what passes, what fails, and what stays undecided.
#include "capacity/bound.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/simulated_service.hpp"

namespace headroom::capacity {
namespace {

using test::ServiceFamily;
using test::SimulatedService;

// A hold of N for `seconds` of a simulated service, transient dropped.
std::vector<Completion> hold(const ServiceFamily& family, int n, double seconds, std::uint64_t seed = 1) {
  SimulatedService server(family, seed);
  server.hold(n);
  for (std::size_t i = 0; i < transient_completions(n); ++i) server.next();
  std::vector<Completion> out;
  for (Completion one = server.next(); one.at_s < seconds; one = server.next()) out.push_back(one);
  return out;
}

BoundJudgement judge(const ServiceFamily& family, int n, double seconds, double slo_ms,
                     std::uint64_t seed = 1) {
  BoundSettings settings;
  settings.slo_ms = slo_ms;
  return judge_bound(settings, n, hold(family, n, seconds, seed), true);
}

constexpr auto kLognormal = ServiceFamily::Shape::kLognormal;

TEST(Bound, DecidesADeterministicServerWithinOneRequest) {
  const ServiceFamily paced{.name = "paced"};
  EXPECT_EQ(judge(paced, 53, 31, 3000).verdict, RungVerdict::kPass);
  EXPECT_EQ(judge(paced, 54, 31, 3000).verdict, RungVerdict::kFail);
}

TEST(Bound, NeedsSixRoundsHoweverManySamples) {
  const ServiceFamily fast{.name = "fast", .mean_ms = 5};
  const auto few = judge(fast, 500, 15, 30000);  // 2,200 samples, 4.5 rounds
  EXPECT_EQ(few.verdict, RungVerdict::kUndecided);
  EXPECT_THAT(few.reason, ::testing::HasSubstr("too few"));
  BoundSettings settings;
  EXPECT_EQ(judge_bound(settings, 5, {}, true).verdict, RungVerdict::kUndecided);
}

// p95 of N = 50 at cv 0.3 is about 2,990 where the mean service is 56 ms.
TEST(Bound, NeverPassesATrueP95JustAboveTheSlo) {
  int passes = 0, fails = 0;
  const ServiceFamily noisy{.name = "noisy", .mean_ms = 56, .shape = kLognormal, .cv = 0.3};
  const auto whole = hold(noisy, 50, 20000);
  std::vector<double> samples;
  for (const auto& one : whole) samples.push_back(one.ttfab_ms);
  const double p95 = *stats::percentile(samples, 0.95);
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    passes += judge(noisy, 50, 240, p95 / 3040 * 3000, seed).verdict == RungVerdict::kPass;
  EXPECT_LE(passes, 1);
  for (std::uint64_t seed = 0; seed < 40; ++seed)  // 2,990 seen for a minute only
    fails += judge(noisy, 50, 60, p95 / 2990 * 3000, seed).verdict != RungVerdict::kUndecided;
  EXPECT_LE(fails, 2);
}

// A server that made up for a stop: one request in 120 half a second short. A normal's tail would end above
// the SLO.
TEST(Bound, AFewShortOnesProveNothingAgainstTheP95) {
  std::vector<Completion> all;
  for (int i = 0; i < 2400; ++i) all.push_back({i / 18.0, i % 120 == 7 ? 2460.0 : 2960.0 + i % 7, false, 0});
  BoundSettings settings;
  settings.slo_ms = 3000;
  const auto judged = judge_bound(settings, 53, all, true);
  EXPECT_NE(judged.verdict, RungVerdict::kFail) << judged.reason;
}

TEST(Bound, CutsATransientAndSaysSo) {
  const ServiceFamily cold{
      .name = "cold", .shape = kLognormal, .cv = 0.05, .transient_s = 15, .transient_factor = 2};
  const auto judged = judge(cold, 45, 101, 3000);
  EXPECT_TRUE(judged.cut);
  EXPECT_EQ(judged.verdict, RungVerdict::kPass) << judged.reason;
}

TEST(Bound, DoesNotFailARungThatIsStillGettingFaster) {
  const ServiceFamily cold{
      .name = "cold", .shape = kLognormal, .cv = 0.1, .transient_s = 60, .transient_factor = 1.6};
  BoundSettings settings;
  EXPECT_NE(judge_bound(settings, 50, hold(cold, 50, 45), false).verdict, RungVerdict::kFail);
}

TEST(Bound, DoesNotPassARungThatStillRisesAndCallsItUnstable) {
  const ServiceFamily leaking{.name = "leaking", .shape = kLognormal, .cv = 0.1, .drift_per_600s = 2};
  const auto judged = judge(leaking, 20, 150, 3000);
  EXPECT_EQ(judged.verdict, RungVerdict::kUnstable) << judged.reason;
}

TEST(Bound, OfTheSameRungFiveTimesNeverContradictsItself) {
  const ServiceFamily noisy{.name = "noisy", .shape = kLognormal, .cv = 0.3};
  for (const int n : {40, 48, 52, 60}) {
    int passes = 0, fails = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto verdict = judge(noisy, n, 60, 3000, seed).verdict;
      passes += verdict == RungVerdict::kPass;
      fails += verdict == RungVerdict::kFail;
    }
    EXPECT_TRUE(passes == 0 || fails == 0) << n;
  }
}

// 52 meet the SLO; a host that stands still for a second makes a round of them look as if they did not.
TEST(Bound, LeavesOutWhatAStallOfTheHostTouched) {
  const ServiceFamily stalled{.name = "stalled", .stall_every_s = 15, .stall_s = 1};
  const auto evidence = hold(stalled, 52, 45);
  auto blind = evidence;
  for (auto& one : blind) one.stalled = false;
  const BoundSettings settings;
  EXPECT_EQ(judge_bound(settings, 52, blind, false).verdict, RungVerdict::kFail);
  const auto judged = judge_bound(settings, 52, evidence, false);
  EXPECT_EQ(judged.verdict, RungVerdict::kPass);
  EXPECT_THAT(judged.reason, ::testing::HasSubstr("stood still"));
  EXPECT_EQ(judge(stalled, 55, 45, 3000).verdict, RungVerdict::kFail);
}

// A tenth takes 7 s, the rest 1 s: a stall of 0.15 s every 6 s touches all of the former and few of the
// latter.
TEST(Bound, WhatStallsLeftAloneIsNoPassWhereTheLongRequestsAreWhatTheyTouched) {
  std::vector<Completion> all;
  for (int client = 0; client < 20; ++client) {
    double at_s = 0.05 * client;
    for (int i = client; at_s < 240; ++i) {
      const double from_s = at_s, ms = i % 10 == 0 ? 7000 : 1000;
      at_s += ms / 1000;
      double stalled_ms = 0;
      for (double stall = 6; stall < at_s; stall += 6)
        stalled_ms += 1000 * std::max(0.0, std::min(at_s, stall + 0.15) - std::max(from_s, stall));
      all.push_back({at_s, ms, stalled_ms > 0, stalled_ms});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
  ASSERT_LT(std::count_if(all.begin(), all.end(), [](const auto& one) { return one.stalled; }),
            static_cast<std::ptrdiff_t>(all.size() / 2));
  BoundSettings settings;
  settings.slo_ms = 6000;
  for (const bool last : {false, true}) {
    const auto judged = judge_bound(settings, 20, all, last);
    EXPECT_EQ(judged.verdict, RungVerdict::kUndecided) << judged.reason;
    EXPECT_THAT(judged.reason, ::testing::HasSubstr("quieter"));
    ASSERT_TRUE(judged.summary);
    EXPECT_EQ(judged.summary->p95, 7000);
  }
}

TEST(Bound, SaysWhatItJudgedAndThatIsWhatItsSummaryIsOf) {
  const ServiceFamily stalled{.name = "stalled", .stall_every_s = 15, .stall_s = 1};
  const auto evidence = hold(stalled, 52, 45);
  const auto judged = judge_bound({}, 52, evidence, false);
  ASSERT_TRUE(judged.summary);
  EXPECT_LT(judged.judged_ms.size(), evidence.size());
  EXPECT_EQ(judged.judged_ms.size(), judged.summary->count);
  EXPECT_EQ(stats::percentile(judged.judged_ms, 0.95), judged.summary->p95);
}

TEST(Bound, AHostThatStandsStillMostOfTheTimeFailsNothing) {
  const ServiceFamily stalled{.name = "stalled", .stall_every_s = 5, .stall_s = 1};
  const auto evidence = hold(stalled, 60, 45);
  EXPECT_EQ(judge_bound({}, 60, evidence, false).verdict, RungVerdict::kUndecided);
  const auto last = judge_bound({}, 60, evidence, true);
  EXPECT_EQ(last.verdict, RungVerdict::kUnstable);
  EXPECT_THAT(last.reason, ::testing::HasSubstr("hold again"));
}

TEST(Bound, LooksAtFixedTimesAndAtTheEnd) {
  BoundSettings settings;
  EXPECT_EQ(next_look(settings, 0, 240), 20);
  EXPECT_EQ(next_look(settings, 20, 240), 30);
  EXPECT_EQ(next_look(settings, 152, 240), 240);
  EXPECT_EQ(next_look(settings, 20, 25), 25);
}

TEST(P95Interval, HoldsTheP95NarrowsWithRoundsAndIsUnknownWithoutThem) {
  Rung rung;
  rung.n = 10;
  rung.mean_ms = 500;
  rung.p95_ms = 582;
  rung.sd_ms = 50;
  EXPECT_FALSE(p95_interval(rung));
  rung.rounds = 40;
  rung.noise_ratio = 1;
  const auto wide = p95_interval(rung);
  ASSERT_TRUE(wide);
  EXPECT_LT(wide->low_ms, 582);
  EXPECT_GT(wide->high_ms, 582);
  rung.rounds = 400;
  const auto narrow = p95_interval(rung);
  ASSERT_TRUE(narrow);
  EXPECT_LT(narrow->high_ms - narrow->low_ms, wide->high_ms - wide->low_ms);
  rung.rounds = 1;
  EXPECT_FALSE(p95_interval(rung));
}

}  // namespace
}  // namespace headroom::capacity
