// Tests of the joins between segments: what is cut, what is kept, and that nothing clicks.
#include "audio/join.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace headroom::audio {
namespace {

// lead and tail of silence around a constant tone of 0.5
std::vector<float> speech(std::size_t lead, std::size_t body, std::size_t tail) {
  std::vector<float> v(lead + body + tail, 0.0001F);
  std::fill(v.begin() + static_cast<std::ptrdiff_t>(lead),
            v.begin() + static_cast<std::ptrdiff_t>(lead + body), 0.5F);
  return v;
}

TEST(Join, LeavesASingleSegmentAsItIsButForSilenceNobodyWaitsFor) {
  EXPECT_EQ(shape_segment(speech(1200, 24000, 9600), {.first = true, .last = true}).size(), 34800U);
  EXPECT_EQ(shape_segment(speech(7200, 24000, 9600), {.first = true, .last = true}).size(),
            2400U + 24000U + 9600U);
}

TEST(Join, TrimsLeadingSilenceOfLaterSegmentsButKeepsTheOnset) {
  const auto in = speech(7200, 24000, 9600);
  const auto out = shape_segment(in, {.first = false, .last = true});
  EXPECT_EQ(out.size(), 720U + 24000U + 9600U);
  EXPECT_FLOAT_EQ(out[720], 0.5F);
}

TEST(Join, MakesThePauseExactlyAsLongAsAsked) {
  const auto in = speech(7200, 24000, 9600);
  auto all = shape_segment(in, {.first = true, .last = false, .pause_after_s = 0.4});
  const std::size_t end_of_sound = 2400 + 24000;
  const auto next = shape_segment(in, {.first = false, .last = true});
  all.insert(all.end(), next.begin(), next.end());
  std::size_t onset = end_of_sound;
  while (all[onset] < 0.25F) ++onset;
  EXPECT_EQ(onset - end_of_sound, 9600U);  // 0.4 s at 24 kHz
}

TEST(Join, StartsAndEndsNearZeroWhereverItCuts) {
  const std::vector<float> in(24000, 0.8F);
  const auto out = shape_segment(in, {.first = false, .last = false, .pause_after_s = 0});
  EXPECT_LT(std::abs(out.front()), 0.01F);
  EXPECT_LT(std::abs(out.back()), 0.01F);
  float worst = 0;
  for (std::size_t i = 1; i < out.size(); ++i) worst = std::max(worst, std::abs(out[i] - out[i - 1]));
  EXPECT_LT(worst, 0.02F);
}

TEST(Join, HandlesSilenceAndNothing) {
  EXPECT_TRUE(shape_segment({}, {.first = false, .last = true}).empty());
  const std::vector<float> silence(500, 0.0F);
  EXPECT_EQ(shape_segment(silence, {.first = false, .last = true}).size(), 500U);
}

TEST(Join, PutsAskedPausesAtTheVeryStartAndEnd) {
  const auto in = speech(0, 2400, 0);
  const auto out =
      shape_segment(in, {.first = true, .last = true, .pause_before_s = 0.5, .pause_after_s = 1.5});
  EXPECT_EQ(out.size(), 12000U + 2400U + 36000U);
  EXPECT_EQ(out[11999], 0.0F);
}

TEST(Join, PutsAnAskedPauseBeforeALaterSegmentToo) {
  const auto in = speech(0, 2400, 0);
  const auto out = shape_segment(in, {.first = false, .last = true, .pause_before_s = 0.5});
  EXPECT_EQ(out.size(), 12000U + 2400U);
  EXPECT_EQ(out[11999], 0.0F);
}

TEST(Join, MakesAPauseOfNothingElse) {
  EXPECT_EQ(shape_segment({}, {.first = false, .last = false, .pause_after_s = 0.5}).size(), 12000U);
}

}  // namespace
}  // namespace headroom::audio
