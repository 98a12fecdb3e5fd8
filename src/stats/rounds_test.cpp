// Quantiles, noise ratio, transient cut and tolerance factors against known values and simulated series.
#include "stats/rounds.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stats/quantile.hpp"

namespace headroom::stats {
namespace {

TEST(NormalQuantile, AgreesWithTables) {
  EXPECT_NEAR(normal_quantile(0.95), kZ95, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
  EXPECT_NEAR(normal_quantile(1 - 0.025 / 14), 2.9137, 1e-3);
  EXPECT_NEAR(normal_quantile(1e-9), -5.9978070150, 1e-9);
  EXPECT_TRUE(std::isnan(normal_quantile(0)));
  EXPECT_TRUE(std::isnan(normal_quantile(1)));
}

TEST(StudentQuantile, AgreesWithTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 0.01);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.303, 0.001);
  EXPECT_NEAR(student_quantile(0.975, 5), 2.571, 0.01);
  EXPECT_NEAR(student_quantile(0.99, 10), 2.764, 0.01);
  EXPECT_NEAR(student_quantile(0.95, 100), 1.660, 0.001);
  EXPECT_TRUE(std::isnan(student_quantile(0.5, 0)));
}

// Moving sums over n services, as a serial server in a closed loop gives them; `slow` scales all services of
// a stretch of `stretch` completions.
std::vector<double> moving_sums(int n, std::size_t count, double slow, int stretch, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<double> services, sums;
  double sum = 0, scale = 1;
  for (std::size_t i = 0; i < count + static_cast<std::size_t>(n); ++i) {
    if (stretch > 0 && i % static_cast<std::size_t>(stretch) == 0) scale = 1 + slow * noise(random);
    services.push_back(scale * (10 + 3 * noise(random)));
    sum += services.back();
    if (i < static_cast<std::size_t>(n)) continue;
    sum -= services[i - static_cast<std::size_t>(n)];
    sums.push_back(sum);
  }
  return sums;
}

TEST(RoundSummary, SeesIndependentServicesAsIndependentRounds) {
  double sum = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    sum += summarise_rounds(moving_sums(50, 2000, 0, 0, seed), 50)->noise_ratio;
  EXPECT_GT(sum / 40, 1.0);
  EXPECT_LT(sum / 40, 1.4);  // it is at least 1 by definition, so its mean lies a little above
}

TEST(RoundSummary, SeesNoiseThatIsLongerThanARound) {
  double sum = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    sum += summarise_rounds(moving_sums(10, 2000, 0.1, 200, seed), 10)->noise_ratio;
  EXPECT_GT(sum / 40, 4.0);  // each stretch is 20 rounds
}

TEST(RoundSummary, NeedsTwoRounds) {
  EXPECT_FALSE(summarise_rounds(std::vector<double>(9, 1.0), 5));
  const auto constant = summarise_rounds(std::vector<double>(10, 7.0), 5);
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->sigma, 0);
  EXPECT_EQ(constant->noise_ratio, 1);
  EXPECT_EQ(constant->p95, 7);
}

TEST(TransientLength, CutsAHeadThatDiffersAndNothingElse) {
  std::vector<double> means{9, 8, 7, 6.2};
  std::mt19937 random(3);
  std::normal_distribution<double> noise(5, 0.1);
  for (int i = 0; i < 30; ++i) means.push_back(noise(random));
  EXPECT_EQ(transient_length(means), 4U);
  int cut = 0;
  for (int run = 0; run < 100; ++run) {
    std::vector<double> steady;
    for (int i = 0; i < 30; ++i) steady.push_back(noise(random));
    cut += transient_length(steady) > 0 ? 1 : 0;
  }
  EXPECT_LE(cut, 40);  // a cut of steady noise costs time, never truth
  EXPECT_EQ(transient_length(std::vector<double>{9, 1, 1}), 0U);
  EXPECT_LE(transient_length(std::vector<double>{9, 9, 9, 9, 1, 1}), 3U);
}

TEST(ToleranceFactors, NarrowWithObservationsTowardsTheQuantile) {
  const double z = normal_quantile(1 - 0.025 / 14);
  EXPECT_FALSE(tolerance_factors(4, z));
  const auto few = tolerance_factors(10, z), many = tolerance_factors(1e6, z);
  ASSERT_TRUE(few && many);
  EXPECT_NEAR(many->upper, kZ95, 0.01);
  EXPECT_NEAR(many->lower, kZ95, 0.01);
  EXPECT_GT(few->upper, 3.5);
  EXPECT_LT(few->lower, 0.9);
}

TEST(ToleranceFactors, HoldTheirConfidenceOnNormalSamples) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 1);
  int below = 0;
  const int runs = 4000, size = 20;
  const auto factors = tolerance_factors(size, normal_quantile(0.975));
  for (int run = 0; run < runs; ++run) {
    double sum = 0, squares = 0;
    for (int i = 0; i < size; ++i) {
      const double x = noise(random);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / size, sd = std::sqrt((squares - sum * mean) / (size - 1));
    below += mean + factors->upper * sd < kZ95 ? 1 : 0;
  }
  EXPECT_LT(below, runs * 0.035);  // nominal 2.5 %; the closed form is an approximation
}

}  // namespace
}  // namespace headroom::stats
