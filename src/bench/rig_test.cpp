// Opening connections while earlier requests still hold theirs.
#include "bench/rig.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

using std::chrono::seconds;

// Requests in flight keep their connection; an idle one or a new one is had at once while the limit allows.
class FullInvoker final : public aws::Invoker {
 public:
  FullInvoker(base::FakeClock& clock, int connections, int busy)
      : in_flight(busy), clock_(clock), connections_(connections) {}
  base::Result<void> warm(std::size_t count, base::Deadline deadline) override {
    asked.push_back(static_cast<int>(count));
    if (in_flight + static_cast<int>(count) <= connections_) return {};
    clock_.advance(deadline.left(clock_));
    in_flight -= ends_a_slice;
    return base::fail(base::ErrorCode::kTimeout, "not in time");
  }
  std::uint64_t start(aws::InvokeRequest, aws::InvokeEvents) override { return 0; }
  void cancel(std::uint64_t) override {}
  void post(std::function<void()>) override {}
  void at(base::SteadyTime, std::function<void()>) override {}
  bool here() const override { return false; }

  int in_flight;
  int ends_a_slice = 0;
  std::vector<int> asked;

 private:
  base::FakeClock& clock_;
  const int connections_;
};

class Warm : public testing::Test {
 protected:
  base::Result<void> warm(FullInvoker& invoker, int n) {
    return warm_missing(
        invoker, n, [&] { return invoker.in_flight; }, [this] { return interrupted_; }, clock_,
        base::Deadline::after(clock_, seconds{30}));
  }
  base::FakeClock clock_;
  bool interrupted_ = false;
};

TEST_F(Warm, DoesNotAskForTheConnectionsOfWhatIsStillInFlight) {
  FullInvoker invoker(clock_, 80, 50);
  EXPECT_TRUE(warm(invoker, 60));
  EXPECT_EQ(invoker.asked, std::vector<int>{10});
  EXPECT_TRUE(warm(invoker, 40));  // lowered: nothing is missing
  EXPECT_EQ(invoker.asked, std::vector<int>{10});
}

TEST_F(Warm, AsksAgainForWhatIsMissingThenUntilItsTimeIsUp) {
  FullInvoker invoker(clock_, 8, 6);
  EXPECT_FALSE(warm(invoker, 20));
  EXPECT_EQ(invoker.asked, std::vector<int>(15, 14));  // 30 s in slices of 2 s
  invoker.asked.clear();
  invoker.ends_a_slice = 3;
  EXPECT_FALSE(warm(invoker, 9));
  EXPECT_EQ((std::vector<int>{invoker.asked[0], invoker.asked[1]}), (std::vector<int>{3, 6}));
}

TEST_F(Warm, ASignalIsHeardAfterOneSlice) {
  FullInvoker invoker(clock_, 8, 6);
  interrupted_ = true;
  const auto warmed = warm(invoker, 20);
  ASSERT_FALSE(warmed);
  EXPECT_EQ(warmed.error().code, base::ErrorCode::kCancelled);
  EXPECT_EQ(invoker.asked.size(), 1U);
}

}  // namespace
}  // namespace headroom::bench
