// Tests that a lane has one user, and that work alone has none beside it.
#include "engine/lane_pool.hpp"

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

TEST(LanePool, GivesTheLastOneBackFirst) {
  LanePool pool(2);
  std::size_t first = 0;
  {
    const auto a = pool.take();
    first = a.index();
    const auto b = pool.take();
    EXPECT_NE(b.index(), first);
  }
  EXPECT_EQ(pool.take().index(), first);
}

TEST(LanePool, OpensAgainAfterWorkThatThrew) {
  LanePool pool(1);
  EXPECT_THROW(pool.alone([] { throw std::runtime_error("no memory to give back"); }), std::runtime_error);
  EXPECT_EQ(pool.take().index(), 0U);
  bool ran = false;
  pool.alone([&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(LanePool, NeverHasTwoUsersOfALaneNorOneBesideWorkAlone) {
  constexpr int kLanes = 3;
  LanePool pool(kLanes);
  std::array<std::atomic<int>, kLanes> users{};
  std::atomic<int> running = 0;
  std::atomic<int> wrong = 0;
  std::atomic<int> alone = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        {
          const auto lane = pool.take();
          ++running;
          if (++users.at(lane.index()) != 1) ++wrong;
          --users.at(lane.index());
          --running;
        }
        if (i % 50 == t) {
          pool.alone([&] {
            ++alone;
            if (running != 0) ++wrong;
          });
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(alone, 0);
}

}  // namespace
}  // namespace headroom::engine
