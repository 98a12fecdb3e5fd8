// Tests of how cores become workers and threads.
#include "engine/model_engine.hpp"

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

bool equal(Shares got, int workers, int threads) { return got.workers == workers && got.threads == threads; }

TEST(ModelEngine, SharesTheCoresBetweenTwoWorkers) {
  EXPECT_TRUE(equal(choose_shares(1, 0, 0), 1, 1));
  EXPECT_TRUE(equal(choose_shares(2, 0, 0), 2, 1));
  EXPECT_TRUE(equal(choose_shares(7, 0, 0), 2, 3));
  EXPECT_TRUE(equal(choose_shares(0, 0, 0), 1, 1));
}

TEST(ModelEngine, TakesWhatIsWished) {
  EXPECT_TRUE(equal(choose_shares(8, 4, 0), 4, 2));
  EXPECT_TRUE(equal(choose_shares(8, 0, 8), 2, 8));
  EXPECT_TRUE(equal(choose_shares(2, 8, 0), 8, 1));
}

}  // namespace
}  // namespace headroom::engine
