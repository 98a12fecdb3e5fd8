// Tests of the text frontend on the prepared model directory (HEADROOM_MODEL, or where ./dev setup puts it):
// the real lexicons and vocabulary.
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "text/frontend.hpp"
#include "text/vocab.hpp"

namespace headroom::text {
namespace {

std::filesystem::path model() {
  if (const char* dir = std::getenv("HEADROOM_MODEL")) return dir;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base = cache != nullptr && *cache != '\0'
                                         ? std::filesystem::path(cache)
                                         : std::filesystem::path(home != nullptr ? home : "") / ".cache";
  return base / "headroom/models/kokoro-82m";
}

std::unique_ptr<Frontend> frontend() {
  FrontendOptions options;
  options.model_dir = model();
  auto f = Frontend::create(options);
  EXPECT_TRUE(f) << base::describe(f.error());
  return f ? std::move(*f) : nullptr;
}

TEST(TextModel, LoadsQuickly) {
  const std::clock_t before = std::clock();
  ASSERT_TRUE(frontend());
  // Processor time, whatever else the machine does: some 0.1 s in a release build, ten times that in debug.
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 5.0);
}

TEST(TextModel, SpeaksTheGoldenSentencesWithTheWholeLexicon) {
  const auto f = frontend();
  ASSERT_TRUE(f);
  std::ifstream in("tests/golden/text/english.golden");
  std::size_t count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    std::istringstream row(line);
    std::string language;
    std::string sentence;
    std::string expected;
    std::getline(row, language, '\t');
    std::getline(row, sentence, '\t');
    std::getline(row, expected);
    const auto segments = f->segments(sentence, *parse_language(language));
    ASSERT_TRUE(segments) << sentence;
    std::string got;
    for (const auto& s : *segments) got += (got.empty() ? "" : " | ") + s.phonemes;
    EXPECT_EQ(got, expected) << sentence;
  }
  EXPECT_GE(count, 40U);
}

// Every word of both lexicons, spoken alone, has a sound, and no symbol of it is lost on the way to the
// model.
TEST(TextModel, SpeaksEveryWordOfTheLexicons) {
  const auto f = frontend();
  ASSERT_TRUE(f);
  std::size_t dropped = 0;
  for (const auto& [name, language] :
       {std::pair("us_gold", Language::kAmerican), std::pair("gb_gold", Language::kBritish)}) {
    std::ifstream in(model() / "lexicon" / (std::string(name) + ".json"));
    const auto words = nlohmann::json::parse(in);
    std::size_t asked = 0;
    std::size_t index = 0;
    for (const auto& [word, sound] : words.items()) {
      if (++index % 7 != 0 || word.size() < 2) continue;  // a seventh is enough, and fast
      ++asked;
      const auto segments = f->segments(word, language, {}, 1.0, &dropped);
      EXPECT_TRUE(segments) << name << " " << word;
    }
    EXPECT_GT(asked, 10'000U);
  }
  EXPECT_EQ(dropped, 0U);
}

}  // namespace
}  // namespace headroom::text
