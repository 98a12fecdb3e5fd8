// Tests of measuring and choosing shares, with an engine whose time is turned by hand.
#include "engine/calibration.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// Speaks one second of sound in `takes` of the clock that all workers turn: one after another.
class TimedEngine final : public Engine {
 public:
  TimedEngine(base::FakeClock& clock, int workers, base::Duration takes)
      : clock_(clock), workers_(workers), takes_(takes) {
    ++alive;
  }
  ~TimedEngine() override { --alive; }
  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    if (takes_.count() == 0) return base::fail(base::ErrorCode::kInternal, "broken");
    EXPECT_EQ(segment.voice.front().name, "af_heart");
    clock_.advance(takes_);
    return std::vector<float>(1000);
  }
  int sample_rate() const override { return 1000; }
  int workers() const override { return workers_; }
  const std::vector<std::string>& voices() const override { return voices_; }
  std::string_view name() const override { return "timed"; }

  static inline int alive = 0;

 private:
  base::FakeClock& clock_;
  int workers_;
  base::Duration takes_;
  std::vector<std::string> voices_{"af_heart"};
};

struct Machine {
  base::FakeClock clock{};
  std::map<int, base::Duration> takes;  // by workers
  base::Duration start = 1s;
  int made = 0;

  MakeEngine make() {
    return [this](const Shares& shares) -> base::Result<std::unique_ptr<Engine>> {
      EXPECT_EQ(TimedEngine::alive, 0) << "two engines at once need twice the memory";
      ++made;
      clock.advance(start);
      return std::make_unique<TimedEngine>(clock, shares.workers, takes.at(shares.workers));
    };
  }
};

const std::vector<Shares> kTwoCores{{2, 1}, {1, 2}};

TEST(Calibration, TakesTheFasterWay) {
  Machine machine{.takes = {{2, 800ms}, {1, 400ms}}};
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 0s);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->shares, (Shares{1, 2}));
  EXPECT_EQ(run->engine->workers(), 1);
  EXPECT_EQ(machine.made, 2);  // the chosen one is the last one made
  ASSERT_THAT(run->calibration.measured, SizeIs(2));
  EXPECT_DOUBLE_EQ(run->calibration.measured[0].speech_s_per_s, 1.25);
  EXPECT_DOUBLE_EQ(run->calibration.measured[1].speech_s_per_s, 2.5);
  EXPECT_EQ(describe(run->calibration), "1x2 of 2x1 1.25, 1x2 2.50");
}

TEST(Calibration, BeginsNothingMoreOnceItIsAskedToStop) {
  Machine machine{.takes = {{2, 800ms}, {1, 400ms}}};
  int asked = 0;
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 0s, {}, [&] { return ++asked > 0; });
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->stopped);
  EXPECT_EQ(machine.made, 1);
}

TEST(Calibration, KeepsTheDefaultWhenTheOtherIsHardlyBetter) {
  Machine machine{.takes = {{2, 800ms}, {1, 760ms}}};
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 0s);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->shares, (Shares{2, 1}));
  EXPECT_EQ(run->engine->workers(), 2);
  EXPECT_EQ(machine.made, 3);
}

TEST(Calibration, BeginsNothingThatTheTimeWouldNotAllow) {
  // The first takes 3 s to start and two sentences of 0.8 s twice: 6.2 s, of which 3.2 s are beyond its
  // start.
  Machine machine{.takes = {{2, 800ms}, {1, 100ms}}, .start = 3s};
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 9s);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->shares, (Shares{2, 1}));
  EXPECT_EQ(machine.made, 1);
  EXPECT_DOUBLE_EQ(run->calibration.took_s, 3.2);
  EXPECT_THAT(run->calibration.left_out, SizeIs(1));
  EXPECT_THAT(describe(run->calibration), HasSubstr("1x2 not measured"));
}

TEST(Calibration, BeginsWhatJustFits) {
  Machine machine{.takes = {{2, 800ms}, {1, 100ms}}, .start = 3s};
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 9500ms);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->shares, (Shares{1, 2}));
  EXPECT_EQ(machine.made, 2);
}

TEST(Calibration, SpeaksOneSentenceWhereThatTakesLong) {
  Machine machine{.takes = {{2, 4s}, {1, 4s}}};
  const auto run = calibrate(kTwoCores, machine.make(), machine.clock, 6s);
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->calibration.took_s, 8.0);  // two workers, one sentence each
  EXPECT_EQ(machine.made, 1);
}

TEST(Calibration, GivesTheErrorOfAnEngineThatDoesNotSpeak) {
  Machine machine{.takes = {{2, 0ms}}};
  const auto run = calibrate({{2, 1}}, machine.make(), machine.clock, 0s);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message, "broken");
}

TEST(Calibration, GoesOnWithTheDefaultWhereAnotherWayDoesNotRun) {
  Machine silent{.takes = {{2, 800ms}, {1, 0ms}}};
  std::vector<std::string> kept;
  const auto keep = [&](const Calibration& so_far) { kept.push_back(describe(so_far)); };
  const auto run = calibrate(kTwoCores, silent.make(), silent.clock, 0s, keep);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->shares, (Shares{2, 1}));
  EXPECT_EQ(run->engine->workers(), 2);
  EXPECT_THAT(run->calibration.left_out, SizeIs(1));
  EXPECT_EQ(kept, std::vector<std::string>{"2x1 of 2x1 1.25"}) << "once, before the other is tried";
}

TEST(Calibration, GoesOnWithTheDefaultWhereAnotherWayCannotBeMade) {
  Machine small{.takes = {{2, 800ms}, {1, 100ms}}};
  const MakeEngine no_memory = [&](const Shares& shares) -> base::Result<std::unique_ptr<Engine>> {
    if (shares.workers == 1) return base::fail(base::ErrorCode::kInternal, "no memory");
    return small.make()(shares);
  };
  const auto other = calibrate(kTwoCores, no_memory, small.clock, 0s);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->shares, (Shares{2, 1}));
  EXPECT_EQ(other->engine->workers(), 2);
}

}  // namespace
}  // namespace headroom::engine
