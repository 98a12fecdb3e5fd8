// Tests of reading two clocks together and of stamps told by them.
#include "load/clock_look.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kAhead = seconds{1000};

// Clocks that move by the given times, one before each reading.
ClockLook look_with(const std::vector<base::Duration>& moves, std::size_t& used) {
  base::Duration now = seconds{5};
  const auto steady = [&] { return now += moves.at(used++); };
  const auto wall = [&] { return (now += moves.at(used++)) + kAhead; };
  return take_look(steady, wall);
}

TEST(ClockLook, TakesTheFirstPairThatWasReadAtOnce) {
  std::size_t used = 0;
  const ClockLook look = look_with({{}, microseconds{2}, microseconds{2}}, used);
  EXPECT_EQ(used, 3u);
  EXPECT_EQ(look.at, base::SteadyTime(seconds{5} + microseconds{4}));
  EXPECT_EQ(look.wall_ahead, kAhead);
}

TEST(ClockLook, ReadsAgainWhereItWasTornApart) {
  std::size_t used = 0;
  const ClockLook look = look_with(
      {{}, milliseconds{8}, {}, {}, {}, milliseconds{3}, {}, microseconds{1}, microseconds{1}}, used);
  EXPECT_EQ(used, 9u);
  EXPECT_EQ(look.wall_ahead, kAhead);
  EXPECT_EQ(look.at, base::SteadyTime(seconds{5} + milliseconds{11} + microseconds{2}));
}

TEST(ClockLook, KeepsTheBestWhereAllAreTornApart) {
  std::vector<base::Duration> moves;
  for (const int torn : {9, 2, 5, 7, 8}) moves.insert(moves.end(), {{}, milliseconds{torn}, {}});
  std::size_t used = 0;
  const ClockLook look = look_with(moves, used);
  EXPECT_EQ(used, moves.size());
  EXPECT_EQ(look.at, base::SteadyTime(seconds{5} + milliseconds{11}));
  EXPECT_EQ(look.wall_ahead, kAhead + milliseconds{1});
}

TEST(ClockLook, TellsAStampAndKnowsOneThatItCannotTell) {
  const ClockLook look{base::SteadyTime(seconds{50}), kAhead};
  EXPECT_EQ(arrival(look, kAhead + seconds{49}, seconds{10}), base::SteadyTime(seconds{49}));
  EXPECT_EQ(arrival(look, kAhead + seconds{50}, seconds{10}), base::SteadyTime(seconds{50}));
  EXPECT_FALSE(arrival(look, kAhead + seconds{50} + microseconds{1}, seconds{10}));  // after the look
  EXPECT_FALSE(arrival(look, kAhead + seconds{40}, seconds{10}));                    // the clock was set
}

}  // namespace
}  // namespace headroom::load
