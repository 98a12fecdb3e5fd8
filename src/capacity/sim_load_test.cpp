// Loads: their words, their arrivals, and what is said of them without simulating.
#include "capacity/sim_load.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

constexpr LoadScale kScale{90, 260};

std::size_t count(Arrivals& arrivals) {
  std::size_t n = 0;
  double last = 0;
  while (const auto at = arrivals.next()) {
    EXPECT_GE(*at, last);
    last = *at;
    ++n;
  }
  EXPECT_LT(last, arrivals.duration_s());
  return n;
}

TEST(SimLoad, PoissonArrivalsHaveTheRateOfTheirProfile) {
  auto profile = make_profile("flat", kScale, 1);
  ASSERT_TRUE(profile);
  const double expected = 90 * profile->duration_s();
  auto arrivals = poisson(*profile, 7);
  EXPECT_NEAR(static_cast<double>(count(*arrivals)), expected, 4 * std::sqrt(expected));
}

TEST(SimLoad, TheSameSeedGivesTheSameArrivals) {
  auto profile = make_profile("day", kScale, 3);
  ASSERT_TRUE(profile);
  auto a = poisson(*profile, 5), b = poisson(*profile, 5), c = poisson(*profile, 6);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const auto x = a->next();
    EXPECT_EQ(x, b->next());
    differs = differs || x != c->next();
  }
  EXPECT_TRUE(differs);
}

TEST(SimLoad, RefusesWordsThatMeanNothing) {
  for (const char* words : {"", "steep", "step:", "step:-1", "step:x", "flat:2", "ramp:2:3:4",
                            "spike:2:1e9:1", "ramp:2:1e9", "day:nan", "square:2:0.001", "step:1e9"}) {
    const auto profile = make_profile(words, kScale, 1);
    ASSERT_FALSE(profile) << words;
    EXPECT_FALSE(profile.error().message.empty()) << words;
  }
}

TEST(SimLoad, AStepIsAStep) {
  const auto profile = make_profile("step:1.25", kScale, 1);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->rate_rps[519], 90);
  EXPECT_EQ(profile->rate_rps[520], 112.5);
  EXPECT_EQ(growth_within(profile->rate_rps, 290), 1.25);
}

TEST(SimLoad, GrowthOfARampIsWhatItGrowsWithinTheHorizon) {
  // x2 within 4T = 1040 s: within 290 s from the start 90 -> 115.1, with the last minute's mean behind it.
  const auto profile = make_profile("ramp:2:4", kScale, 1);
  ASSERT_TRUE(profile);
  const auto g = growth_within(profile->rate_rps, 290);
  ASSERT_TRUE(g);
  EXPECT_GT(*g, 1.2);
  EXPECT_LT(*g, 1.35);
}

TEST(SimLoad, GrowthWithoutLoadIsUnknown) {
  EXPECT_FALSE(growth_within(std::vector<double>(600, 0.0), 60));
  EXPECT_FALSE(growth_within({}, 60));
}

TEST(SimLoad, ASquareTurnsWithItsPeriodAndNoiseDoesNotTurn) {
  std::vector<double> square, noise;
  for (int i = 0; i < 7200; ++i) {
    square.push_back((i / 300) % 2 == 0 ? 40 : 160);
    noise.push_back(100 + ((i / 60) % 2 == 0 ? 9 : -9));
  }
  const auto period = turning_period_s(square, 20);
  ASSERT_TRUE(period);
  EXPECT_NEAR(*period, 600, 10);
  EXPECT_FALSE(turning_period_s(square, 150)) << "a swing of less than an instance moves no fleet";
  EXPECT_FALSE(turning_period_s(noise, 5));
  EXPECT_FALSE(turning_period_s(std::vector<double>(600, 7.0), 1));
  EXPECT_FALSE(turning_period_s({}, 1));
}

TEST(SimLoad, TheClairvoyantPaysForWhatIsNeededInEachMinute) {
  std::vector<double> load(3600, 90.0);
  EXPECT_NEAR(clairvoyant_hours(load, 17.9, 0.9, 1), 6, 1e-9);  // 90 / 16.11 = 5.6
  std::fill(load.begin() + 1800, load.end(), 0.0);
  EXPECT_NEAR(clairvoyant_hours(load, 17.9, 0.9, 1), 3.5, 1e-9);
  EXPECT_DOUBLE_EQ(peak_rate(load), 90);
}

TEST(SimLoad, OfLessThanAMinuteTheMeanIsPeakAndTrough) {
  EXPECT_DOUBLE_EQ(peak_rate(std::vector<double>(10, 3.0)), 3);
  EXPECT_DOUBLE_EQ(trough_rate(std::vector<double>(10, 3.0)), 3);
  EXPECT_FALSE(check_requests(1e9));
}

TEST(SimLoad, AMultipliedTraceKeepsItsRateAndOrder) {
  Trace trace{"t", {}};
  for (int i = 0; i < 100; ++i) trace.at_s.push_back(i);
  const Trace many = multiplied(trace, 15, 2, 1);
  ASSERT_EQ(many.at_s.size(), 1500U);
  EXPECT_TRUE(std::is_sorted(many.at_s.begin(), many.at_s.end()));
  auto arrivals = recorded(many);
  EXPECT_EQ(count(*arrivals), 1500U);
  double total = 0;
  for (const double n : per_second(many)) total += n;
  EXPECT_EQ(total, 1500);
}

}  // namespace
}  // namespace headroom::capacity
