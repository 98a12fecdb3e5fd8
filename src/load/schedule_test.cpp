// Tests of open-loop schedules.
#include "load/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Schedule, ConstantIsEven) {
  const auto plan = *make_schedule(Arrivals::kConstant, 4, seconds{2}, *Workload::make("short"), 1);
  ASSERT_EQ(plan.size(), 8u);
  for (std::size_t i = 0; i < plan.size(); ++i) EXPECT_EQ(plan[i], (PlannedStart{milliseconds{250} * i, i}));
}

TEST(Schedule, PoissonHasItsRateAndIsTheSameForOneSeed) {
  const Workload workload = *Workload::make("short");
  const auto plan = *make_schedule(Arrivals::kPoisson, 50, seconds{400}, workload, 7);
  EXPECT_NEAR(static_cast<double>(plan.size()), 20'000, 5 * std::sqrt(20'000.0));
  EXPECT_TRUE(std::is_sorted(plan.begin(), plan.end(),
                             [](const PlannedStart& a, const PlannedStart& b) { return a.at < b.at; }));
  double longer_than_mean = 0;
  for (std::size_t i = 1; i < plan.size(); ++i)
    longer_than_mean += plan[i].at - plan[i - 1].at > milliseconds{20};
  EXPECT_NEAR(longer_than_mean / static_cast<double>(plan.size()), std::exp(-1.0), 0.02);  // exponential gaps
  EXPECT_EQ(plan, *make_schedule(Arrivals::kPoisson, 50, seconds{400}, workload, 7));
  EXPECT_NE(plan, *make_schedule(Arrivals::kPoisson, 50, seconds{400}, workload, 8));
}

TEST(Schedule, ATraceNeedsTimes) {
  EXPECT_FALSE(make_schedule(Arrivals::kTrace, 0, {}, *Workload::make("short"), 1));
  const std::string path = testing::TempDir() + "trace.jsonl";
  std::ofstream(path) << R"({"text":"b","t_s":1.5})"
                      << "\n"
                      << R"({"text":"a","t_s":0.25})"
                      << "\n";
  const Workload trace = *Workload::make("file:" + path);
  const auto all = *make_schedule(Arrivals::kTrace, 0, {}, trace, 1);
  EXPECT_EQ(all, (Schedule{{milliseconds{250}, 1}, {milliseconds{1500}, 0}}));  // each with its own text
  EXPECT_EQ(*make_schedule(Arrivals::kTrace, 0, seconds{1}, trace, 1), (Schedule{{milliseconds{250}, 1}}));
  std::remove(path.c_str());
}

TEST(Schedule, RefusesNothingAndTooMuch) {
  const Workload workload = *Workload::make("short");
  EXPECT_FALSE(make_schedule(Arrivals::kConstant, 0, seconds{1}, workload, 1));
  EXPECT_FALSE(make_schedule(Arrivals::kPoisson, 1, {}, workload, 1));
  EXPECT_FALSE(make_schedule(Arrivals::kConstant, 1e9, std::chrono::hours{1}, workload, 1));
}

}  // namespace
}  // namespace headroom::load
