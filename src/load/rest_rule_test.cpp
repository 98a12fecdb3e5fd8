// Tests of how long a lane may rest.
#include "load/rest_rule.hpp"

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

base::Duration after(RestRule& rule, int answers, base::Duration length, bool one_piece = true) {
  base::Duration rest{};
  for (int i = 0; i < answers; ++i) rest = rule.note(length, one_piece);
  return rest;
}

TEST(RestRule, GrowsWithAWholeBatchOfLongAnswersToAThousandthOfTheirLength) {
  RestRule rule;
  EXPECT_EQ(after(rule, 63, milliseconds{1500}), kShortestRest);
  EXPECT_EQ(after(rule, 1, milliseconds{1500}), microseconds{1500});
  EXPECT_EQ(after(rule, 128, seconds{30}), kLongestRest);
}

TEST(RestRule, OneShortAnswerShortensItAtOnceAndForAWholeBatchAfterItsOwn) {
  RestRule rule;
  after(rule, 64, seconds{3});
  EXPECT_EQ(after(rule, 1, milliseconds{20}), kShortestRest);
  EXPECT_EQ(after(rule, 63 + 63, seconds{3}), kShortestRest);
  EXPECT_EQ(after(rule, 1, seconds{3}), kLongestRest);
}

TEST(RestRule, PiecesThatCameTogetherForbidALongRest) {
  RestRule rule;
  after(rule, 64, seconds{3});
  EXPECT_EQ(after(rule, 1, seconds{3}, false), kShortestRest);
}

}  // namespace
}  // namespace headroom::load
