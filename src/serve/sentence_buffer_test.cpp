// Where a text that comes in pieces is cut.
#include "serve/sentence_buffer.hpp"

#include <gmock/gmock.h>

#include "text/markup.hpp"

namespace headroom::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> cut(const std::vector<std::string>& pieces) {
  SentenceBuffer buffer;
  std::vector<std::string> out;
  for (const auto& piece : pieces) {
    buffer.add(piece);
    for (auto& sentence : buffer.take_complete()) out.push_back(std::move(sentence));
  }
  out.push_back("|" + buffer.take_rest());
  return out;
}

}  // namespace

TEST(SentenceBuffer, GivesASentenceAsSoonAsSomethingFollowsIt) {
  EXPECT_THAT(cut({"Hello the", "re. How", " are you? Fine"}),
              ElementsAre("Hello there.", " How are you?", "| Fine"));
  EXPECT_THAT(cut({"She said \"Go!\" ", "Then"}), ElementsAre("She said \"Go!\"", "| Then"));
  EXPECT_THAT(cut({"One.\n", "Two"}), ElementsAre("One.", "|\nTwo"));
  EXPECT_THAT(cut({"a heading\n\nText"}), ElementsAre("a heading\n", "|\nText"));
  EXPECT_THAT(cut({"早上好。 晚安"}), ElementsAre("早上好。", "| 晚安"));
}

TEST(SentenceBuffer, KeepsNumbersAddressesAndAbbreviationsWhole) {
  EXPECT_THAT(cut({"It costs 3", ".", "5 dollars at node", ".", "js"}),
              ElementsAre("|It costs 3.5 dollars at node.js"));
  EXPECT_THAT(cut({"Ask Dr. Smith or J. Doe, e.g. Tom"}), ElementsAre("|Ask Dr. Smith or J. Doe, e.g. Tom"));
  EXPECT_THAT(
      cut({"Meet Capt. Lee and Sgt. Poe on Jan. 5 at Oak Ave. near Mt. Hood on Sun. evening"}),
      ElementsAre("|Meet Capt. Lee and Sgt. Poe on Jan. 5 at Oak Ave. near Mt. Hood on Sun. evening"));
  EXPECT_THAT(cut({"Meet on Jan", ".", " ", "5 at noon. Bye"}),
              ElementsAre("Meet on Jan. 5 at noon.", "| Bye"));
}

TEST(SentenceBuffer, WaitsForTheWordThatTellsAnAbbreviationFromAnEnd) {
  EXPECT_THAT(cut({"He left Acme Inc.", " ", "Th", "e", " firm grew. So"}),
              ElementsAre("He left Acme Inc.", " The firm grew.", "| So"));
  EXPECT_THAT(cut({"He left Acme Inc.", " ", "Th", "omas", " stayed. So"}),
              ElementsAre("He left Acme Inc. Thomas stayed.", "| So"));
  EXPECT_THAT(cut({"Malcolm X. H", "e was", " moved. No. I won't. "}),
              ElementsAre("Malcolm X.", " He was moved.", " No.", " I won't.", "| "));
  EXPECT_THAT(cut({"I like cats, etc.\n", "\nNext"}), ElementsAre("I like cats, etc.", "|\nNext"));
  EXPECT_THAT(cut({"I don't. We sat. Tom"}), ElementsAre("I don't.", " We sat.", "| Tom"));
}

TEST(SentenceBuffer, CutsWhatNeverEndsAtASpace) {
  std::string words;
  for (int i = 0; i < 200; ++i) words += "word ";
  const auto out = cut({words});
  ASSERT_GE(out.size(), 3U);
  for (const auto& piece : out) EXPECT_LE(piece.size(), SentenceBuffer::kLongest + 8);
  EXPECT_THAT(cut({std::string(2000, 'x')}), ElementsAre("|" + std::string(2000, 'x')));
}

TEST(SentenceBuffer, KnowsAnEndThatNothingFollows) {
  SentenceBuffer buffer;
  buffer.add("Good morning");
  EXPECT_FALSE(buffer.ends_like_a_sentence());
  buffer.add("!\"");
  EXPECT_TRUE(buffer.ends_like_a_sentence());
  EXPECT_THAT(buffer.take_complete(), IsEmpty());
  EXPECT_EQ(buffer.take_rest(), "Good morning!\"");
  EXPECT_TRUE(buffer.empty());
  buffer.add("Dr.");
  EXPECT_FALSE(buffer.ends_like_a_sentence());
}

TEST(SentenceBuffer, EndsASentenceAtAWideMarkWhateverFollows) {
  EXPECT_THAT(cut({"早上好。晚", "安！？", "」好"}), ElementsAre("早上好。", "晚安！？」", "|好"));
  EXPECT_THAT(cut({"नमस्ते।", " फिर मिलेंगे॥अच्छा"}), ElementsAre("नमस्ते।", " फिर मिलेंगे॥", "|अच्छा"));
  EXPECT_THAT(cut({"Well…maybe… yes"}), ElementsAre("Well…maybe…", "| yes"));
}

TEST(SentenceBuffer, TakesTenThousandPiecesWithoutAnEnd) {
  SentenceBuffer buffer;
  std::string all;
  for (int i = 0; i < 10'000; ++i) {
    buffer.add("a.");
    all += "a.";
    ASSERT_THAT(buffer.take_complete(), IsEmpty());
  }
  buffer.add(" Next! And");
  const auto out = buffer.take_complete();
  ASSERT_EQ(out.size(), 2U);  // so long a text is cut at its first space
  EXPECT_TRUE(out.front() == all);
  EXPECT_EQ(out.back(), " Next!");
  EXPECT_EQ(buffer.take_rest(), " And");
}

TEST(SentenceBuffer, DoesNotWaitLongForTheWordBehindAnAbbreviation) {
  SentenceBuffer buffer;
  buffer.add("Acme Inc.");
  for (int i = 0; i < 10'000; ++i) {
    buffer.add(" ");
    buffer.take_complete();
  }
  buffer.add("The firm. ");
  EXPECT_FALSE(buffer.take_complete().empty());
}

TEST(SentenceBuffer, CutsTheSameHoweverTheTextComes) {
  std::string text =
      "One. She said \"Go!!!\" (e.g. Dr. No?) Then...... it cost 3.5!\n\nNew"
      " [pause:1.5s] and [a. b](/c. d/) then [e. f] so. Go [[x. y](z. w)";
  for (int i = 0; i < 200; ++i) text += " word";
  std::vector<std::string> characters;
  for (const char c : text) characters.emplace_back(1, c);
  EXPECT_EQ(cut(characters), cut({text}));
}

TEST(SentenceBuffer, NeverCutsWithinMarkup) {
  const std::string word = "[New York](/nˈu jˈɔɹk. ˈA/)";
  std::string words;
  for (int i = 0; i < 79; ++i) words += "word ";
  words += "and ";
  EXPECT_THAT(cut({words + word + " is large"}), ElementsAre(words + word, "| is large"));
  EXPECT_THAT(cut({"See [the site. Yes](http://a.b/c d. e)", ". Then"}),
              ElementsAre("See [the site. Yes](http://a.b/c d. e).", "| Then"));
  EXPECT_THAT(cut({"Wait. [pause:1. ", "5s] Go. On"}), ElementsAre("Wait.", " [pause:1. 5s] Go.", "| On"));
}

TEST(SentenceBuffer, WaitsForABracketThatMayBecomeMarkup) {
  SentenceBuffer buffer;
  for (const std::string piece : {"Wait [pause:1.", "5s]. In [New York.", "]", "(/a.", "b.) Go. On"}) {
    buffer.add(piece);
    const auto out = buffer.take_complete();
    EXPECT_FALSE(buffer.ends_like_a_sentence()) << piece;
    if (piece.starts_with("5s")) {
      EXPECT_THAT(out, ElementsAre("Wait [pause:1.5s]."));
    }
    if (piece.starts_with("b")) {
      EXPECT_THAT(out, ElementsAre(" In [New York.](/a.b.) Go."));
    }
  }
  buffer.take_rest();
  buffer.add("Is it [sic]?");
  EXPECT_TRUE(buffer.ends_like_a_sentence());
}

TEST(SentenceBuffer, TakesABracketThatIsNoMarkupAsItComes) {
  EXPECT_THAT(cut({"He [sic. Yes] said so. And"}), ElementsAre("He [sic.", " Yes] said so.", "| And"));
  const std::string open = "[" + std::string(text::kLongestMarkup, 'x') + " yes. ";
  EXPECT_THAT(cut({open + "Next"}),
              ElementsAre("[" + std::string(text::kLongestMarkup, 'x'), " yes.", "| Next"));
}

TEST(SentenceBuffer, SaysNothingOfWhiteSpace) { EXPECT_THAT(cut({" \n\n \n\n"}), ElementsAre("|\n")); }

}  // namespace headroom::serve
