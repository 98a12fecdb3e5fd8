// Tests of how cores become workers and threads.
#include "engine/shares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::ElementsAre;

TEST(Shares, DividesTheCoresBetweenTwoWorkers) {
  EXPECT_EQ(choose_shares(1, 0, 0), (Shares{1, 1}));
  EXPECT_EQ(choose_shares(2, 0, 0), (Shares{2, 1}));
  EXPECT_EQ(choose_shares(7, 0, 0), (Shares{2, 3}));
  EXPECT_EQ(choose_shares(0, 0, 0), (Shares{1, 1}));
  EXPECT_TRUE(check_shares(choose_shares(2000, 0, 0))) << "a machine may have more cores than can be used";
}

TEST(Shares, TakesWhatIsWished) {
  EXPECT_EQ(choose_shares(8, 4, 0), (Shares{4, 2}));
  EXPECT_EQ(choose_shares(8, 0, 8), (Shares{2, 8}));
  EXPECT_EQ(choose_shares(2, 8, 0), (Shares{8, 1}));
}

TEST(Shares, ListsEachWayToDivideOnceAndTheDefaultFirst) {
  EXPECT_THAT(candidate_shares(1), ElementsAre(Shares{1, 1}));
  EXPECT_THAT(candidate_shares(2), ElementsAre(Shares{2, 1}, Shares{1, 2}));
  EXPECT_THAT(candidate_shares(4), ElementsAre(Shares{2, 2}, Shares{4, 1}, Shares{1, 4}));
  EXPECT_THAT(candidate_shares(16), ElementsAre(Shares{2, 8}, Shares{16, 1}, Shares{4, 4}, Shares{1, 16}));
  EXPECT_THAT(candidate_shares(0), ElementsAre(Shares{1, 1}));
}

TEST(Shares, NamesWhatIsOutOfRange) {
  EXPECT_TRUE(check_shares({1, 1}) && check_shares({256, 256}));
  for (const Shares wrong : {Shares{0, 1}, Shares{1, 0}, Shares{257, 1}, Shares{1, -3}}) {
    const auto checked = check_shares(wrong);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, base::ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace headroom::engine
