// Tests of language names and voices.
#include "text/language.hpp"

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

TEST(Language, ComesFromTheVoice) {
  EXPECT_EQ(*language_of_voice("af_heart"), Language::kAmerican);
  EXPECT_EQ(*language_of_voice("bm_george"), Language::kBritish);
  EXPECT_EQ(*language_of_voice("pf_dora"), Language::kPortuguese);
  EXPECT_EQ(*language_of_voice("alloy"), Language::kAmerican);
}

TEST(Language, AcceptsUsualNames) {
  EXPECT_EQ(*parse_language("EN_us"), Language::kAmerican);
  EXPECT_EQ(*parse_language("b"), Language::kBritish);
  EXPECT_EQ(*parse_language("pt-BR"), Language::kPortuguese);
  EXPECT_EQ(language_name(Language::kFrench), "fr");
}

TEST(Language, RefusesThoseNotOfferedByName) {
  const auto voice = language_of_voice("jf_alpha");
  ASSERT_FALSE(voice);
  EXPECT_EQ(voice.error().code, base::ErrorCode::kUnsupported);
  EXPECT_EQ(voice.error().context, "unsupported_language");
  EXPECT_NE(voice.error().message.find("Japanese"), std::string::npos);
  EXPECT_NE(parse_language("zh").error().message.find("Mandarin"), std::string::npos);
  EXPECT_NE(parse_language("klingon").error().message.find("'klingon'"), std::string::npos);
  EXPECT_FALSE(parse_language(""));
  EXPECT_EQ(parse_language("\x01\xFF").error().message.find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace headroom::text
