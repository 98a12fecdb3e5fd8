// Tests of markup and of cutting text into words and punctuation.
#include "text/tokens.hpp"

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

std::string words_of(std::string_view text) {
  std::vector<Token> tokens;
  tokenise(text, tokens);
  std::string out;
  for (const auto& t : tokens) {
    if (t.paragraph_before) out += "¶";
    out += t.kind == Token::Kind::kWord ? "[" + t.text + "]" : t.text;
  }
  return out;
}

TEST(Tokens, KeepsApostrophesHyphensAndInitialsInsideWords) {
  EXPECT_EQ(words_of("It's well-known in the U.S. today."), "[It's][well-known][in][the][U.S].[today].");
  EXPECT_EQ(words_of("'quoted' and 'em"), "['quoted][and]['em]");
  EXPECT_EQ(words_of("end.Next"), "[end].[Next]");
  EXPECT_EQ(words_of("“Hi,” (she) said…"), "“[Hi],”([she])[said]…");
  EXPECT_EQ(words_of("- - '"), "");
}

TEST(Tokens, CutsWordsWhereTheScriptChanges) {
  EXPECT_EQ(words_of("Visit Tokyo東京 today"), "[Visit][Tokyo][東京][today]");
  EXPECT_EQ(words_of("手机now"), "[手机][now]");
  EXPECT_EQ(words_of("Tokyo-東京 is"), "[Tokyo][東京][is]");
  EXPECT_EQ(words_of("café Москва"), "[café][Москва]");
}

TEST(Tokens, ReadsLookAlikeLettersInALatinWordAsLatin) {
  EXPECT_EQ(words_of("pаypal"), "[paypal]");    // a Cyrillic а
  EXPECT_EQ(words_of("Ηello"), "[Hello]");      // a Greek capital eta
  EXPECT_EQ(words_of("рассвет"), "[рассвет]");  // a Russian word
}

TEST(Tokens, EndsParagraphsAtBlankLinesAndHeadings) {
  EXPECT_EQ(words_of("one\n\ntwo"), "[one]¶[two]");
  EXPECT_EQ(words_of("wrapped\nline"), "[wrapped][line]");
  EXPECT_EQ(words_of("Heading\nText"), "[Heading]¶[Text]");
}

TEST(Tokens, CountsWhatItLeavesOut) {
  std::vector<Token> tokens;
  EXPECT_EQ(tokenise("a | b \x01", tokens), 2U);
  EXPECT_EQ(tokens.size(), 2U);
}

TEST(Markup, TakesPhonemesPausesAndLinkText) {
  const auto p = split_markup("Say [Kokoro](/kˈOkəɹO/) [pause:1.5s]now [link](https://x.org).");
  ASSERT_EQ(p.size(), 5U);
  EXPECT_EQ(p[1].kind, Token::Kind::kPhonemes);
  EXPECT_EQ(p[1].phonemes, "kˈOkəɹO");
  EXPECT_EQ(p[3].kind, Token::Kind::kPause);
  EXPECT_DOUBLE_EQ(p[3].pause_s, 1.5);
  EXPECT_EQ(p[4].text, "now link.");
}

TEST(Markup, BoundsPauses) {
  EXPECT_DOUBLE_EQ(split_markup("[pause:500ms]")[0].pause_s, 0.5);
  EXPECT_DOUBLE_EQ(split_markup("[pause:999999s]")[0].pause_s, kLongestPauseS);
  double total = 0;
  std::string many;
  for (int i = 0; i < 50; ++i) many += "[pause:9s]";
  for (const auto& p : split_markup(many)) total += p.pause_s;
  EXPECT_DOUBLE_EQ(total, kLongestTotalPauseS);
}

TEST(Markup, LeavesBrokenMarkupAsText) {
  for (const auto* text : {"[pause:]", "[pause:soon]", "[open", "[a](", "[]()", "[a]", "]["}) {
    const auto p = split_markup(text);
    ASSERT_EQ(p.size(), 1U) << text;
    EXPECT_EQ(p[0].text, text);
  }
}

}  // namespace
}  // namespace headroom::text
