// What a full stop is: the end of a sentence, part of an abbreviation, or not known yet.
#include "text/abbreviations.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

// The stop that is asked about stands before the bar.
FullStop stop(std::string_view marked) {
  std::string text(marked);
  const auto bar = text.find('|');
  text.erase(bar, 1);
  return full_stop_at(text, bar - 1);
}

TEST(FullStop, EndsASentenceBehindAWord) {
  for (const std::string_view text :
       {"Hello there.|", "The cat sat.| Dogs ran", "I don't.| Next", "It's Tom's.| Next", "in 5G.| Next",
        "with node.js.| Next", "see example.com.| Next", "piñata.| Next", "it is 3.5.| Next"})
    EXPECT_EQ(stop(text), FullStop::kEndsSentence) << text;
}

TEST(FullStop, AbbreviatesBehindATitleWhateverFollows) {
  for (const std::string_view text :
       {"Dr.|", "Mr.| The", "ask Gen.| I", "Capt.|", "Lt.|", "Sgt.|", "Gov.|", "Mt.|", "Ft.|", "e.g.| The",
        "“Prof.|", "dr.| smith", "MR.| SMITH left"})
    EXPECT_EQ(stop(text), FullStop::kAbbreviates) << text;
}

TEST(FullStop, IsToldByTheNextWord) {
  for (const std::string_view abbreviation :
       {"Jan.", "Sept.", "Dec.", "Mon.", "Sun.", "Sat.", "Ave.", "Blvd.", "Rd.", "etc.", "Acme Inc.",
        "Malcolm X.", "the U.S.", "9 p.m."}) {
    const std::string text = "on " + std::string(abbreviation) + "|";
    EXPECT_EQ(stop(text), FullStop::kUndecided) << text;
    EXPECT_EQ(stop(text + "  "), FullStop::kUndecided) << text;
    EXPECT_EQ(stop(text + " Th"), FullStop::kUndecided) << text;
    EXPECT_EQ(stop(text + " The "), FullStop::kEndsSentence) << text;
    EXPECT_EQ(stop(text + "\n\n"), FullStop::kEndsSentence) << text;
    EXPECT_EQ(stop(text + " 5"), FullStop::kAbbreviates) << text;
    EXPECT_EQ(stop(text + " and"), FullStop::kAbbreviates) << text;
    EXPECT_EQ(stop(text + ","), FullStop::kAbbreviates) << text;
    EXPECT_EQ(stop(text + " Thomson"), FullStop::kAbbreviates) << text;
    EXPECT_EQ(stop(text + " A. B"), FullStop::kAbbreviates) << text;
    EXPECT_EQ(stop(text + std::string(100, ' ') + "The "), FullStop::kAbbreviates) << text;
  }
}

TEST(FullStop, AbbreviatesOnlyBeforeANumberWhereItMayBeAWord) {
  for (const std::string abbreviation : {"No.|", "no.|", "Fig.|", "Vol.|"}) {
    EXPECT_EQ(stop(abbreviation + " 5"), FullStop::kAbbreviates) << abbreviation;
    EXPECT_EQ(stop(abbreviation + " II "), FullStop::kAbbreviates) << abbreviation;
    EXPECT_EQ(stop(abbreviation + " T"), FullStop::kUndecided) << abbreviation;
    EXPECT_EQ(stop(abbreviation + " To"), FullStop::kEndsSentence) << abbreviation;
    EXPECT_EQ(stop(abbreviation + " I won't"), FullStop::kEndsSentence) << abbreviation;
  }
}

}  // namespace
}  // namespace headroom::text
