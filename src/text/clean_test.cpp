// Tests of cleaning: any bytes in, tidy text out.
#include "text/clean.hpp"

#include <random>

#include <gtest/gtest.h>

#include "text/utf8.hpp"

namespace headroom::text {
namespace {

bool is_valid_utf8(std::string_view s) {
  for (std::size_t at = 0; at < s.size();) {
    if (next_code_point(s, at) == kBad) return false;
  }
  return true;
}

TEST(Clean, KeepsPowersApartFromTheirBase) {
  EXPECT_EQ(clean("10⁶ and 10¹² and 10⁻³").text, "10^6 and 10^12 and 10^-3");
  EXPECT_EQ(clean("5 m², x³, word⁶").text, "5 m², x³, word6");
  EXPECT_EQ(clean("3²").text, "3²");
}

TEST(Clean, UnifiesQuotesDashesAndSpaces) {
  EXPECT_EQ(clean("It\u2019s \u201Cfine\u201D\u00A0\u2013 \u2018ok\u2019\t\u2026").text,
            "It's “fine” – 'ok' …");
  EXPECT_EQ(clean("say \"yes\" (\"no\")").text, "say “yes” (“no”)");
  EXPECT_EQ(clean("\u00ABBonjour\u00BB").text, "“Bonjour”");
  EXPECT_EQ(clean("a\r\nb\rc\u2028d").text, "a\nb\nc\nd");
}

TEST(Clean, DropsWhatNobodySees) {
  EXPECT_EQ(clean(std::string("a\0b\x07"
                              "c\u200B\u200D\uFEFF\u00AD\u202Ed",
                              20)
                      .substr(0, 19))
                .text.substr(0, 3),
            "abc");
  EXPECT_EQ(clean("a\u200Bb\uFEFFc\u00ADd\u202Ee\uFE0F").text, "abcde");
  EXPECT_EQ(clean("a\u200Bb").dropped, 0U);
}

TEST(Clean, DropsAndCountsSymbolsNobodySpeaks) {
  const auto c = clean("hi \U0001F600\U0001F680 there \u2603");
  EXPECT_EQ(c.text, "hi  there ");
  EXPECT_EQ(c.dropped, 3U);
}

TEST(Clean, ComposesAccentsAndKeepsOtherScripts) {
  EXPECT_EQ(clean("cafe\u0301 nai\u0308ve").text, "café naïve");
  EXPECT_EQ(clean("x\u0301").text, "x");
  EXPECT_EQ(clean("Привет 你好 नमस्ते").text, "Привет 你好 नमस्ते");
}

TEST(Clean, ReadsWidthAndFontVariants) {
  EXPECT_EQ(clean("\uFF28\uFF49\uFF01 \U0001D400\U0001D41B \U0001D7D7 H\u2082O \uFB01sh").text,
            "Hi! Ab 9 H2O fish");
}

TEST(Clean, CountsInvalidBytesAndGivesValidUtf8) {
  for (const std::string bad : {"a\xC3",
                                "a\xFF"
                                "b",
                                "\xED\xA0\x80x", "\xF4\x90\x80\x80", "\xC0\x80", "\xE2\x82"}) {
    const auto c = clean(bad);
    EXPECT_TRUE(is_valid_utf8(c.text)) << bad;
    EXPECT_GT(c.dropped, 0U) << bad;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 60, '\0');
    for (char& b : bytes) b = static_cast<char>(random() & 0xFFU);
    EXPECT_TRUE(is_valid_utf8(clean(bytes).text));
  }
}

TEST(Utf8, KnowsCaseAndAccentsOfLatinLetters) {
  EXPECT_EQ(lower("ÀÉÎÕÜŠŽŸĐ"), "àéîõüšžÿđ");
  EXPECT_EQ(strip_accents("Crème Brûlée Straße Łódź"), "Creme Brulee Strasse Lodz");
  EXPECT_EQ(count_code_points("naïve 你"), 7U);
  EXPECT_EQ(count_code_points("a\xFF\xFE"), 3U);
}

}  // namespace
}  // namespace headroom::text
