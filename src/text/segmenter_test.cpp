// Tests of segments: the limit holds whatever the text, nothing is lost, cuts fall where they should.
#include "text/segmenter.hpp"

#include <random>

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

const Vocab& vocab() {
  static const Vocab v = *Vocab::load("tests/golden/text/model/vocab.json");
  return v;
}

// Units from a word of n letters each; a mark behind the word makes a break.
Units units_of(std::initializer_list<std::pair<std::size_t, std::string_view>> words) {
  Units u;
  for (const auto& [letters, mark] : words) {
    Unit unit;
    unit.text = std::string(letters, 'a');
    unit.phonemes = unit.text + std::string(mark);
    if (mark == ".") unit.after = Break::kSentence;
    if (mark == ",") unit.after = Break::kClause;
    u.list.push_back(unit);
  }
  return u;
}

Units repeated(std::size_t words, std::size_t letters) {
  Units u;
  for (std::size_t i = 0; i < words; ++i) {
    Unit unit;
    unit.text = unit.phonemes = std::string(letters, 'a');
    u.list.push_back(unit);
  }
  return u;
}

std::vector<std::size_t> sizes(const Units& u, SegmentLimits limits = {}) {
  std::size_t dropped = 0;
  std::vector<std::size_t> out;
  for (const auto& s : cut_into_segments(u, vocab(), limits, dropped)) {
    EXPECT_EQ(s.tokens.size(), s.phonemes.size());
    EXPECT_GE(s.tokens.size(), 1U);
    EXPECT_LE(s.tokens.size(), limits.most);
    out.push_back(s.tokens.size());
  }
  return out;
}

constexpr SegmentLimits kWhole{.most = 510, .aim = 510, .first = 510, .tiny = 0};

TEST(Segmenter, FillsASegmentToExactlyTheLimit) {
  EXPECT_EQ(sizes(units_of({{254, ""}, {254, ""}}), kWhole), (std::vector<std::size_t>{509}));
  EXPECT_EQ(sizes(units_of({{254, ""}, {255, ""}}), kWhole), (std::vector<std::size_t>{510}));
  EXPECT_EQ(sizes(units_of({{255, ""}, {255, ""}}), kWhole), (std::vector<std::size_t>{255, 255}));
}

TEST(Segmenter, CutsOneEndlessWordIntoCharacters) {
  std::size_t total = 0;
  for (const std::size_t n : {509U, 510U, 511U, 3000U}) {
    total = 0;
    for (const auto s : sizes(units_of({{n, ""}}), kWhole)) total += s;
    EXPECT_EQ(total, n);
  }
}

TEST(Segmenter, CutsAtSentencesFirst) {
  EXPECT_EQ(sizes(units_of({{40, "."}, {50, "."}, {60, "."}})), (std::vector<std::size_t>{41, 51, 61}));
}

TEST(Segmenter, KeepsTheFirstSegmentShortAtAClause) {
  // 60 letters and a comma, then 80 more: the first segment ends at the comma.
  EXPECT_EQ(sizes(units_of({{30, ""}, {30, ","}, {80, "."}})), (std::vector<std::size_t>{62, 81}));
}

TEST(Segmenter, LetsAFirstSentenceWithoutClausesRunSomewhatLonger) {
  EXPECT_EQ(sizes(repeated(15, 9)), (std::vector<std::size_t>{149}));
}

TEST(Segmenter, CutsBeforeAConjunctionRatherThanAnyWord) {
  Units u = repeated(60, 9);  // 599 tokens without a mark
  u.list[6].cut_before = 2;
  const auto s = sizes(u);
  EXPECT_EQ(s.front(), 59U);
}

TEST(Segmenter, JoinsTinySentencesUnlessAPauseStandsBetween) {
  EXPECT_EQ(sizes(units_of({{2, "."}, {3, "."}, {4, "."}})).size(), 1U);
  Units u = units_of({{2, "."}, {3, "."}});
  u.list[0].pause_s = 1;
  EXPECT_EQ(sizes(u).size(), 2U);
}

TEST(Segmenter, GivesPausesByTheKindOfCut) {
  std::size_t dropped = 0;
  Units u = units_of({{40, "."}, {50, "."}});
  u.list[0].pause_s = 1.5;
  u.list[1].pause_s = 0.7;
  u.pause_before_s = 0.3;
  const auto s = cut_into_segments(u, vocab(), {}, dropped);
  ASSERT_EQ(s.size(), 2U);
  EXPECT_DOUBLE_EQ(s[0].pause_before_s, 0.3);
  EXPECT_GT(s[0].pause_after_s, 1.5);
  EXPECT_DOUBLE_EQ(s[1].pause_after_s, 0.7);
}

TEST(Segmenter, DropsAndCountsSymbolsTheModelLacks) {
  Units u;
  u.list.push_back({"x", "aʕb", true, Break::kNone, 0, 0});
  std::size_t dropped = 0;
  const auto s = cut_into_segments(u, vocab(), {}, dropped);
  ASSERT_EQ(s.size(), 1U);
  EXPECT_EQ(s[0].phonemes, "ab");
  EXPECT_EQ(dropped, 1U);
}

TEST(Segmenter, NeverLosesOrExceedsOnRandomUnits) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    Units u;
    std::size_t letters = 0;
    const std::size_t count = random() % 120;
    for (std::size_t i = 0; i < count; ++i) {
      Unit unit;
      const std::size_t n = random() % 20 == 0 ? random() % 1200 : 1 + random() % 12;
      letters += n;
      unit.phonemes = std::string(n, 'a');
      unit.space_before = random() % 8 != 0;
      unit.after = static_cast<Break>(random() % 16 == 0 ? 2 : random() % 10 == 0 ? 1 : 0);
      unit.cut_before = static_cast<int>(random() % 3);
      u.list.push_back(unit);
    }
    std::size_t dropped = 0;
    std::size_t seen = 0;
    for (const auto& s : cut_into_segments(u, vocab(), {}, dropped)) {
      EXPECT_LE(s.tokens.size(), 510U);
      EXPECT_GE(s.tokens.size(), 1U);
      seen += static_cast<std::size_t>(std::count(s.phonemes.begin(), s.phonemes.end(), 'a'));
    }
    EXPECT_EQ(seen, letters);
  }
}

}  // namespace
}  // namespace headroom::text
