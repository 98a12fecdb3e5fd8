// A host that stands still, seen in the samples of a driver on a fake clock.
#include "load/stall.hpp"

#include <gtest/gtest.h>

#include "load/driver.hpp"

namespace headroom::load {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kEvery{100}, kLeast{60};

// Takes everything and answers nothing.
class DeafTarget final : public Target {
 public:
  void post(std::size_t, Work work) override { work(); }
  void at(std::size_t, base::SteadyTime, Work) override {}
  std::uint64_t start(std::size_t, aws::InvokeRequest, aws::InvokeEvents) override { return ++last_; }
  void cancel(std::size_t, std::uint64_t) override {}

 private:
  std::uint64_t last_ = 0;
};

class StallTest : public testing::Test {
 protected:
  void step_every(milliseconds step, int times) {
    for (int i = 0; i < times; ++i) {
      driver.step();
      clock.advance(step);
    }
    driver.step();
  }
  std::vector<Stall> stalls() const { return find_stalls(driver.samples(), kEvery, kLeast); }

  base::FakeClock clock;
  DeafTarget target;
  const Workload workload = *Workload::make("short");
  Driver driver{target, workload, *body_format("sagemaker", "af_heart", "wav"),
                clock,  {},       [] { return 0.0; }};
};

TEST_F(StallTest, AHostThatRunsHasNone) {
  step_every(milliseconds{10}, 300);
  EXPECT_TRUE(stalls().empty());
  step_every(milliseconds{50}, 40);  // coarse, and still within the limit
  EXPECT_TRUE(stalls().empty());
}

TEST_F(StallTest, AGapBetweenSamplesIsOneAndSaysHowLong) {
  step_every(milliseconds{10}, 100);
  const auto before = clock.steady();
  clock.advance(milliseconds{700});
  step_every(milliseconds{10}, 100);
  const auto found = stalls();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LE(found[0].from, before + milliseconds{100});
  EXPECT_EQ(found[0].to, before + milliseconds{700});
  EXPECT_TRUE(overlaps(found, before + milliseconds{300}, before + milliseconds{400}));
  EXPECT_TRUE(overlaps(found, before - milliseconds{500}, before + milliseconds{650}));
  EXPECT_FALSE(overlaps(found, before - milliseconds{500}, before - milliseconds{1}));
  EXPECT_FALSE(overlaps(found, before + milliseconds{701}, before + milliseconds{900}));
  EXPECT_EQ(stood_still(found, before + milliseconds{600}, before + milliseconds{900}), milliseconds{100});
  EXPECT_EQ(stood_still(found, before + milliseconds{701}, before + milliseconds{900}), milliseconds{0});
}

Sample sample_at(int at_ms, int loop_lag_ms) {
  Sample s;
  s.at = base::SteadyTime{milliseconds{at_ms}};
  s.loop_lag = milliseconds{loop_lag_ms};
  return s;
}

TEST(Stalls, ALateHeartbeatIsOneAlthoughTheSampleCameInTime) {
  const auto found = find_stalls({sample_at(0, 0), sample_at(100, 90), sample_at(200, 59)}, kEvery, kLeast);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from, base::SteadyTime{milliseconds{10}});
  EXPECT_EQ(found[0].to, base::SteadyTime{milliseconds{100}});
}

TEST(Stalls, WhatBothSaysIsOneStall) {
  const auto found = find_stalls({sample_at(0, 0), sample_at(500, 0), sample_at(600, 480)}, kEvery, kLeast);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from, base::SteadyTime{milliseconds{100}});
  EXPECT_EQ(found[0].to, base::SteadyTime{milliseconds{600}});
}

}  // namespace
}  // namespace headroom::load
