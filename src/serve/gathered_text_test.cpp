// Pieces become sentences, and a text that does not end is given up.
#include "serve/gathered_text.hpp"

#include <gmock/gmock.h>

namespace headroom::serve {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kMaxAge = seconds(56);
constexpr std::size_t kMost = 1000;
const base::SteadyTime kStart{seconds(1000)};

}  // namespace

TEST(GatheredText, GivesSentencesAndAtTheFinalPieceTheRest) {
  GatheredText text;
  EXPECT_FALSE(text.begun());
  EXPECT_FALSE(text.add({"One here. Two", false}, kStart, kMost));
  EXPECT_TRUE(text.begun());
  EXPECT_THAT(text.take_sentences(), ElementsAre("One here."));
  EXPECT_FALSE(text.add({" here", true}, kStart, kMost));
  EXPECT_THAT(text.take_sentences(), ElementsAre(" Two here"));
  EXPECT_TRUE(text.final());
  EXPECT_FALSE(text.has_sentences());
}

TEST(GatheredText, EndsASentenceAfterAPauseUnlessMoreCame) {
  GatheredText text;
  text.add({"Version 1.", false}, kStart, kMost);
  ASSERT_TRUE(text.may_end_here());
  const auto before = text.pieces();
  text.add({"5 is out.", false}, kStart, kMost);
  EXPECT_FALSE(text.end_after(before));
  EXPECT_TRUE(text.end_after(text.pieces()));
  EXPECT_THAT(text.take_sentences(), ElementsAre("Version 1.5 is out."));
  EXPECT_FALSE(text.end_after(text.pieces()));  // nothing is left
}

TEST(GatheredText, RefusesMoreCharactersThanTheLimitInAll) {
  GatheredText text;
  EXPECT_FALSE(text.add({"12345", false}, kStart, 8));
  const auto refused = text.add({"ÄÖÜ6", false}, kStart, 8);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error, ApiError::kTextTooLong);
  EXPECT_THAT(text.take_sentences(), IsEmpty());
}

TEST(GatheredText, IsStaleOnceNoWordsCome) {
  GatheredText text;
  text.add({"One", false}, kStart, kMost);
  EXPECT_EQ(text.patience(kStart, kMaxAge), kMaxAge);
  text.add({"  ", false}, kStart + seconds(50), kMost);  // says nothing, keeps nothing alive
  EXPECT_EQ(text.patience(kStart + seconds(50), kMaxAge), seconds(6));
  EXPECT_FALSE(text.stale(kStart + seconds(55), kMaxAge));
  const auto why = text.stale(kStart + kMaxAge, kMaxAge);
  ASSERT_TRUE(why);
  EXPECT_EQ(why->error, ApiError::kRequestStale);
  EXPECT_THAT(why->message, HasSubstr("no text came for 56.0 s"));
}

TEST(GatheredText, IsStaleInTheEndHoweverSmallThePiecesThatKeepComing) {
  GatheredText text;
  auto now = kStart;
  for (; now < kStart + 12 * kMaxAge; now += seconds(50)) {
    text.add({"a", false}, now, kMost);
    EXPECT_FALSE(text.stale(now, kMaxAge));
    EXPECT_LE(text.patience(now, kMaxAge), kMaxAge);
  }
  const auto why = text.stale(kStart + 12 * kMaxAge, kMaxAge);
  ASSERT_TRUE(why);
  EXPECT_THAT(why->message, HasSubstr("has been coming for 672.0 s"));
}

TEST(GatheredText, IsNeverStaleOnceItIsFinal) {
  GatheredText text;
  text.add({"All of it.", true}, kStart, kMost);
  EXPECT_FALSE(text.stale(kStart + 100 * kMaxAge, kMaxAge));
}

}  // namespace headroom::serve
