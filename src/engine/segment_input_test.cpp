// Tests of a segment's limits and padding.
#include "engine/segment_input.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Segment spoken(std::vector<std::int64_t> tokens, float speed = 1.0F) {
  Segment segment;
  segment.tokens = std::move(tokens);
  segment.speed = speed;
  return segment;
}

TEST(SegmentInput, PadsBothEnds) { EXPECT_THAT(padded_tokens(spoken({5, 7})), ElementsAre(0, 5, 7, 0)); }

TEST(SegmentInput, TakesOneTokenToTheLongestContext) {
  EXPECT_FALSE(check_segment(spoken({})));
  EXPECT_TRUE(check_segment(spoken({1})));
  EXPECT_TRUE(check_segment(spoken(std::vector<std::int64_t>(kMaxTokens, 177))));
  EXPECT_FALSE(check_segment(spoken(std::vector<std::int64_t>(kMaxTokens + 1, 1))));
}

TEST(SegmentInput, NamesATokenOutsideTheVocabulary) {
  EXPECT_THAT(check_segment(spoken({3, 178})).error().message, HasSubstr("178"));
  EXPECT_FALSE(check_segment(spoken({-1})));
}

TEST(SegmentInput, RefusesSpeedsThatTheModelWasNotMadeFor) {
  EXPECT_TRUE(check_segment(spoken({1}, 0.25F)));
  EXPECT_TRUE(check_segment(spoken({1}, 4.0F)));
  for (const float speed : {0.2F, 4.1F, -1.0F, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_FALSE(check_segment(spoken({1}, speed)));
}

TEST(SegmentInput, RefusesASampleThatIsNotANumber) {
  EXPECT_TRUE(check_samples({0.0F, -1.0F}));
  EXPECT_FALSE(check_samples({0.0F, std::numeric_limits<float>::quiet_NaN()}));
  EXPECT_FALSE(check_samples({std::numeric_limits<float>::infinity()}));
}

}  // namespace
}  // namespace headroom::engine
