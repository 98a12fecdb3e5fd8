// Tests of the voice table: which row is taken, how blends mix, what is refused.
#include "engine/voice_table.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::HasSubstr;

// Row r, column c holds base + r + c / 1000.
std::string voice_bytes(float base) {
  std::vector<float> values(kStyleRows * kStyleSize);
  for (std::size_t r = 0; r < kStyleRows; ++r) {
    for (std::size_t c = 0; c < kStyleSize; ++c) {
      values[r * kStyleSize + c] = base + static_cast<float>(r) + static_cast<float>(c) / 1000.0F;
    }
  }
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class Voices : public ::testing::Test {
 protected:
  Voices() {
    EXPECT_TRUE(table_.add("bf_emma", voice_bytes(1000.0F)));
    EXPECT_TRUE(table_.add("af_heart", voice_bytes(0.0F)));
  }
  VoiceTable table_;
};

TEST_F(Voices, AreListedSorted) {
  EXPECT_THAT(table_.names(), ::testing::ElementsAre("af_heart", "bf_emma"));
}

TEST_F(Voices, TakeTheRowOfTheTokenCount) {
  EXPECT_FLOAT_EQ((*table_.style({{"af_heart"}}, 1))[0], 1.0F);
  EXPECT_FLOAT_EQ((*table_.style({{"af_heart"}}, 42))[255], 42.255F);
}

TEST_F(Voices, TakeTheLastRowForLongSegments) {
  EXPECT_FLOAT_EQ((*table_.style({{"af_heart"}}, 509))[0], 509.0F);
  EXPECT_FLOAT_EQ((*table_.style({{"af_heart"}}, 510))[0], 509.0F);
}

TEST_F(Voices, AreCopiedExactlyWhenAlone) {
  const auto heavy = table_.style({{"af_heart", 7.0F}}, 3);
  const auto plain = table_.style({{"af_heart", 1.0F}}, 3);
  EXPECT_EQ(*heavy, *plain);
}

TEST_F(Voices, BlendByNormalisedWeight) {
  const auto mixed = table_.style({{"af_heart", 3.0F}, {"bf_emma", 1.0F}}, 10);
  EXPECT_FLOAT_EQ((*mixed)[0], 0.75F * 10.0F + 0.25F * 1010.0F);
}

TEST_F(Voices, AreRefusedByNameWhenUnknown) {
  const auto style = table_.style({{"af_heart"}, {"../etc/passwd"}}, 10);
  ASSERT_FALSE(style);
  EXPECT_EQ(style.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(style.error().message, HasSubstr("../etc/passwd"));
}

TEST_F(Voices, AreRefusedWithoutPartOrWithABadWeight) {
  EXPECT_FALSE(table_.style({}, 10));
  for (const float weight : {0.0F, -1.0F, NAN, INFINITY}) {
    EXPECT_FALSE(table_.style({{"af_heart", weight}}, 10)) << weight;
  }
}

TEST_F(Voices, AreRefusedOfAnotherSizeOrWithNotANumber) {
  const auto cut = table_.add("am_adam", voice_bytes(0.0F).substr(4));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("am_adam"));
  std::string bytes = voice_bytes(0.0F);
  const float bad = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + 400, &bad, sizeof bad);
  EXPECT_FALSE(table_.add("am_adam", bytes));
  EXPECT_EQ(table_.names().size(), 2U);
}

}  // namespace
}  // namespace headroom::engine
