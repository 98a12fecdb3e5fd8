// Percentiles by nearest rank, moments, trend.
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/binomial.hpp"
#include "stats/percentile.hpp"
#include "stats/trend.hpp"

namespace headroom::stats {
namespace {

using ::testing::ElementsAre;

std::vector<double> one_to(int n) {
  std::vector<double> v;
  for (int i = n; i >= 1; --i) v.push_back(i);
  return v;
}

TEST(Binomial, TailsOfSmallAndLargeCounts) {
  EXPECT_DOUBLE_EQ(binomial_tail(0, 10, 0.3), 1);
  EXPECT_NEAR(binomial_tail(1, 2, 0.5), 0.75, 1e-12);
  EXPECT_NEAR(binomial_tail(4, 30, 0.01), 2.226e-4, 1e-7);  // 4 of 30 prove more than 1 %, 3 do not
  EXPECT_NEAR(binomial_tail(3, 30, 0.01), 3.318e-3, 1e-6);
  EXPECT_NEAR(binomial_tail(11, 10, 0.5), 0, 1e-12);
  EXPECT_NEAR(binomial_tail(2400, 240'000, 0.01), 0.505, 0.01);  // (1 - p)^n alone is 0 as a double
}

TEST(Percentile, IsTheSmallestSampleThatCoversTheShare) {
  EXPECT_EQ(percentile(one_to(100), 0.95), 95);
  EXPECT_EQ(percentile(one_to(20), 0.95), 19);
  EXPECT_EQ(percentile(one_to(21), 0.95), 20);
  EXPECT_EQ(percentile(one_to(10), 0.5), 5);
  EXPECT_EQ(percentile(one_to(3), 1.0), 3);
  EXPECT_EQ(percentile(one_to(1), 0.01), 1);
}

TEST(Percentile, AtTheSloMeansThatShareMetIt) {
  std::vector<double> v(95, 1.0);
  v.insert(v.end(), 5, 9.0);
  EXPECT_EQ(percentile(v, 0.95), 1.0);
  v.push_back(9.0);
  EXPECT_EQ(percentile(v, 0.95), 9.0);
}

TEST(Percentile, DoesNotExistWithoutSamplesOrOutsideItsRange) {
  EXPECT_FALSE(percentile({}, 0.5));
  for (const double p : {0.0, -1.0, 1.01, std::nan("")}) EXPECT_FALSE(percentile(one_to(5), p)) << p;
}

TEST(Percentile, OfSeveralSharesComeInOrder) {
  const std::array ps{0.99, 0.5, 0.95};
  EXPECT_THAT(percentiles(one_to(100), ps), ElementsAre(99, 50, 95));
  EXPECT_TRUE(percentiles({}, ps).empty());
}

TEST(Moments, AreMeanAndSampleDeviation) {
  const std::vector<double> v{2, 4, 4, 4, 5, 5, 7, 9};
  const auto m = moments(v);
  ASSERT_TRUE(m);
  EXPECT_DOUBLE_EQ(m->mean, 5);
  EXPECT_NEAR(m->sd, 2.13809, 1e-5);
  EXPECT_EQ(m->min, 2);
  EXPECT_EQ(m->max, 9);
  EXPECT_FALSE(moments({}));
  EXPECT_EQ(moments(one_to(1))->sd, 0);
}

TEST(AllFinite, SeesNanAndInfinity) {
  EXPECT_TRUE(all_finite(one_to(3)));
  EXPECT_FALSE(all_finite(std::vector{1.0, std::nan("")}));
  EXPECT_FALSE(all_finite(std::vector{std::numeric_limits<double>::infinity()}));
}

TEST(Trend, FindsASlowRise) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 10);
  std::vector<double> v;
  for (int i = 0; i < 600; ++i) v.push_back(1000 + 0.2 * i + noise(random));
  const auto t = trend(v);
  ASSERT_TRUE(t);
  EXPECT_TRUE(t->moving);
  EXPECT_GT(t->z, 0);
  EXPECT_NEAR(t->change, 0.075, 0.01);
}

TEST(Trend, StaysQuietOnNoiseAndOnRisesTooSmallToMatter) {
  int moving = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(1000, 200);
    std::vector<double> v;
    for (int i = 0; i < 300; ++i) v.push_back(noise(random));
    moving += trend(v)->moving ? 1 : 0;
  }
  EXPECT_LE(moving, 4);  // 1 % two-sided and a size that noise rarely has
  std::vector<double> tiny;
  for (int i = 0; i < 300; ++i) tiny.push_back(1000 + 0.01 * i);
  EXPECT_FALSE(trend(tiny)->moving);
  EXPECT_FALSE(trend(std::vector<double>(29, 1.0)));
  EXPECT_FALSE(trend(std::vector<double>(100, 0.0))->moving);
}

}  // namespace
}  // namespace headroom::stats
