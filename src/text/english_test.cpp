// Tests of English sounds on a small lexicon: the golden sentences, and rules that the sentences do not
// reach.
#include "text/english.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "text/frontend.hpp"

namespace headroom::text {
namespace {

// Built by make_fixture.py; the working directory of tests is the repository.
constexpr const char* kModel = "tests/golden/text/model";
constexpr const char* kGolden = "tests/golden/text/english.golden";

std::unique_ptr<Frontend> frontend() {
  FrontendOptions options;
  options.model_dir = kModel;
  options.use_espeak = false;
  auto f = Frontend::create(options);
  EXPECT_TRUE(f) << base::describe(f.error());
  return f ? std::move(*f) : nullptr;
}

std::string phonemes(const Frontend& f, std::string_view text, Language language = Language::kAmerican) {
  const auto segments = f.segments(text, language);
  if (!segments) return base::describe(segments.error());
  std::string out;
  for (const auto& s : *segments) out += (out.empty() ? "" : " | ") + s.phonemes;
  return out;
}

TEST(English, SpeaksTheGoldenSentences) {
  const auto f = frontend();
  ASSERT_TRUE(f);
  std::ifstream in(kGolden);
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream row(line);
    std::string language;
    std::string sentence;
    std::string expected;
    std::getline(row, language, '\t');
    std::getline(row, sentence, '\t');
    std::getline(row, expected);
    ++count;
    EXPECT_EQ(phonemes(*f, sentence, *parse_language(language)), expected) << sentence;
  }
  EXPECT_GE(count, 40U);
}

class Words : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string dir = std::string(kModel) + "/lexicon/";
    auto l = Lexicon::load(dir + "us_gold.json", dir + "us_silver.json");
    ASSERT_TRUE(l);
    lexicon_ = std::make_unique<Lexicon>(std::move(*l));
  }
  std::string say(std::string_view word, WordContext c = {.next_vowel = false}) const {
    return English(*lexicon_, false,
                   [](std::string_view w) { return std::optional("<" + std::string(w) + ">"); })
        .word(word, c);
  }
  std::unique_ptr<Lexicon> lexicon_;
};

TEST_F(Words, GivesFunctionWordsTheirWeakForms) {
  EXPECT_EQ(say("the", {.next_vowel = false}), "ðə");
  EXPECT_EQ(say("the", {.next_vowel = true}), "ði");
  EXPECT_EQ(say("to", {.next_vowel = false}), "tə");
  EXPECT_EQ(say("to", {.next_vowel = true}), "tʊ");
  EXPECT_EQ(say("to", {}), "tu");
  EXPECT_EQ(say("a"), "ɐ");
  EXPECT_EQ(say("A", {}), "ˈA");
  EXPECT_EQ(say("in", {}), "ˈɪn");
}

TEST_F(Words, SpellsInitials) {
  EXPECT_EQ(say("API"), "ˌApˌiˈI");
  EXPECT_EQ(say("APIs"), "ˌApˌiˈIz");
  EXPECT_EQ(say("U.S"), "jˌuˈɛs");
  EXPECT_EQ(say("HTTP"), "ˌAʧtˌitˌipˈi");
}

TEST_F(Words, AsksTheFallbackOnlyForUnknownWords) {
  EXPECT_EQ(say("zorblax"), "<zorblax>");
  EXPECT_EQ(say("Zorblax"), "<zorblax>");
  EXPECT_EQ(say("word"), "wˈɜɹd");
  EXPECT_EQ(say("слово"), "");
}

TEST_F(Words, CutsEndlessWordsForTheFallback) {
  const std::string sound = say(std::string(3000, 'x'));
  EXPECT_EQ(std::count(sound.begin(), sound.end(), '<'), 75);
}

TEST_F(Words, SpellsUnknownWordsWithoutAFallback) {
  const English english(*lexicon_, false, {});
  EXPECT_EQ(english.word("qvx", {.next_vowel = false}), "kjˌuvˌiˈɛks");
}

TEST(Roles, AreGuessedFromTheNeighbours) {
  EXPECT_EQ(guess_role("record", {.previous = "to"}), "VERB");
  EXPECT_EQ(guess_role("record", {.previous = "the"}), "NOUN");
  EXPECT_EQ(guess_role("close", {.next = "the"}), "VERB");
  EXPECT_EQ(guess_role("close", {.previous = "is"}), "ADJ");
  EXPECT_EQ(guess_role("read", {.previous = "have"}), "VBN");
  EXPECT_EQ(guess_role("read", {.previous = "to", .past = true}), "DEFAULT");
  EXPECT_EQ(guess_role("used", {.next = "to"}), "VBD");
}

TEST(Homographs, AreReadByTheWordsBesideThem) {
  struct Row {
    std::string_view word;
    WordContext context;
    std::string_view role;
    std::string_view say_as = {};
  };
  const Row rows[] = {
      {"lead", {.next = "pipes"}, "", "led"},
      {"lead", {.previous = "pencil"}, "", "led"},
      {"lead", {.previous = "will", .next = "the"}, "-"},
      {"wind", {.previous = "strong"}, "DEFAULT"},
      {"wind", {.next = "up"}, "VERB"},
      {"winds", {.previous = "road", .next = "uphill"}, "VERB"},
      {"bow", {.previous = "a", .before_previous = "take"}, "VERB"},
      {"bow", {.previous = "a", .before_previous = "tied"}, "DEFAULT"},
      {"close", {.previous = "a", .next = "friend"}, "ADJ"},
      {"close", {.previous = "the", .next = "of"}, "NOUN"},
      {"close", {.previous = "stay", .next = "to"}, "ADJ"},
      {"content", {.previous = "web"}, "NOUN"},
      {"content", {.previous = "is", .next = "with"}, "DEFAULT"},
      {"minute", {.previous = "a", .next = "amount"}, "ADJ"},
      {"minute", {.previous = "a"}, "-"},
      {"bass", {.next = "guitar"}, "ADJ"},
      {"bass", {.previous = "sea"}, "DEFAULT"},
      {"dove", {.previous = "he", .next = "into"}, "VERB"},
      {"dove", {.previous = "a"}, "-"},
      {"produce", {.previous = "fresh"}, "NOUN"},
      {"resume", {.previous = "your"}, "", "résumé"},
      {"polish", {.next = "the"}, "", "polish"},
      {"invalid", {.previous = "the", .next = "ticket"}, "DEFAULT"},
      {"use", {.previous = "in"}, "NOUN"},
      {"present", {.previous = "was"}, "DEFAULT"},
      {"object", {.previous = "i", .next = "to"}, "VERB"},
      {"read", {.previous = "widely"}, "VBN"},
      {"tear", {.previous = "a"}, "-"},
  };
  for (const auto& row : rows) {
    const auto reading = homograph(row.word, row.context);
    if (row.role == "-") {
      EXPECT_FALSE(reading) << row.word << " after " << row.context.previous;
      continue;
    }
    ASSERT_TRUE(reading) << row.word << " after " << row.context.previous;
    EXPECT_EQ(reading->role, row.role) << row.word;
    EXPECT_EQ(reading->say_as, row.say_as) << row.word;
  }
}

}  // namespace
}  // namespace headroom::text
