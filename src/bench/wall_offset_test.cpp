// A wall clock that is set while a measurement runs.
#include "bench/wall_offset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

using namespace std::chrono_literals;

// Steady time that takes 1 s between two readings now and then, as on a machine that stops a process.
class SettableClock final : public base::Clock {
 public:
  base::SteadyTime steady() const override {
    if (stopped_ > 0 && --stopped_ % 2 == 0) now_ += 1s;
    return base::SteadyTime(now_);
  }
  base::WallTime wall() const override {
    return base::WallTime(std::chrono::duration_cast<base::WallTime::duration>(now_ + wall_));
  }
  void advance(base::Duration by) { now_ += by; }
  void set_wall(base::Duration by) { wall_ += by; }
  void stop_between_readings(int times) { stopped_ = 2 * times; }

 private:
  mutable base::Duration now_ = 1h;
  mutable int stopped_ = 0;
  base::Duration wall_ = 1'000'000s;
};

TEST(WallOffset, PlacesAWallTimeOnTheSteadyClock) {
  SettableClock clock;
  const WallOffset offset(read_moment(clock));
  EXPECT_EQ(offset.steady_at(clock.wall() + 5s), clock.steady() + 5s);
  EXPECT_FALSE(offset.note());
}

TEST(WallOffset, FollowsAClockThatWasSetAndSaysBySoMuch) {
  SettableClock clock;
  WallOffset offset(read_moment(clock));
  clock.advance(10s);
  clock.set_wall(-30s);
  offset.see(read_moment(clock));
  EXPECT_EQ(offset.steady_at(clock.wall()), clock.steady());
  EXPECT_THAT(offset.note().value_or(""), ::testing::HasSubstr("set by -30.0 s"));
  clock.set_wall(+30s);
  offset.see(read_moment(clock));
  EXPECT_FALSE(offset.note());
}

TEST(WallOffset, SaysNothingOfWhatIsTooLittleToMatter) {
  SettableClock clock;
  WallOffset offset(read_moment(clock));
  clock.set_wall(400ms);
  offset.see(read_moment(clock));
  EXPECT_FALSE(offset.note());
}

TEST(WallOffset, DoesNotTakeAStoppedProcessForAClockThatWasSet) {
  SettableClock clock;
  WallOffset offset(read_moment(clock));
  clock.stop_between_readings(3);
  offset.see(read_moment(clock));
  EXPECT_FALSE(offset.note());
  EXPECT_EQ(offset.steady_at(clock.wall()), clock.steady());
}

}  // namespace
}  // namespace headroom::bench
