// Order of work, observed with one worker that is held while the queue fills.
#include "serve/scheduler.hpp"

#include <future>

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

// Submits `deadlines` (seconds) as requests 0, 1, 2 … while the only worker is held, and returns the order
// they ran in.
std::vector<int> order_of(Order order, const std::vector<int>& deadlines,
                          const std::vector<std::uint64_t>& requests = {}) {
  std::promise<void> hold;
  std::promise<void> done;
  std::vector<int> ran;
  Scheduler scheduler(1, order);
  scheduler.submit({}, 0, [&] { hold.get_future().wait(); });
  for (std::size_t i = 0; i < deadlines.size(); ++i) {
    const base::SteadyTime at{std::chrono::seconds(deadlines[i])};
    scheduler.submit(at, requests.empty() ? i : requests[i], [&, i] {
      ran.push_back(static_cast<int>(i));
      if (ran.size() == deadlines.size()) done.set_value();
    });
  }
  hold.set_value();
  done.get_future().wait();
  return ran;
}

}  // namespace

TEST(Scheduler, RunsTheEarliestDeadlineFirst) {
  EXPECT_EQ(order_of(Order::kEarliestDeadline, {30, 10, 20}), (std::vector{1, 2, 0}));
}

TEST(Scheduler, KeepsArrivalOrderAmongEqualDeadlines) {
  EXPECT_EQ(order_of(Order::kEarliestDeadline, {10, 10, 10}), (std::vector{0, 1, 2}));
}

TEST(Scheduler, IgnoresDeadlinesUnderFifo) {
  EXPECT_EQ(order_of(Order::kFifo, {30, 10, 20}), (std::vector{0, 1, 2}));
}

TEST(Scheduler, OutlivesWorkThatThrows) {
  std::promise<void> done;
  Scheduler scheduler(1, Order::kEarliestDeadline);
  scheduler.submit({}, 0, [] { throw 1; });
  scheduler.submit({}, 1, [&] { done.set_value(); });
  done.get_future().wait();
}

TEST(Scheduler, LetsRunningWorkEndWhenItStopsAndRunsNoMore) {
  std::promise<void> begun;
  bool ended = false;
  bool more = false;
  Scheduler scheduler(1, Order::kEarliestDeadline);
  scheduler.submit({}, 0, [&] {
    begun.set_value();
    std::this_thread::yield();
    ended = true;
  });
  begun.get_future().wait();
  scheduler.stop();
  EXPECT_TRUE(ended);
  scheduler.submit({}, 2, [&] { more = true; });
  EXPECT_FALSE(more);
}

TEST(Scheduler, KnowsFifoOfSegmentsAndOfRequests) {
  EXPECT_EQ(order_of(Order::kFifo, {1, 1, 1, 1}, {1, 0, 1, 0}), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(order_of(Order::kFifoRequests, {1, 1, 1, 1}, {1, 0, 1, 0}), (std::vector{1, 3, 0, 2}));
}

}  // namespace headroom::serve
