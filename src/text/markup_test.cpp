// Where markup ends, and what only looks like it.
#include "text/markup.hpp"

#include <string>

#include <gtest/gtest.h>

namespace headroom::text {

TEST(Markup, FindsAPauseAndItsEnd) {
  const auto pause = markup_at("a [pause:1.5s] b", 2);
  EXPECT_EQ(pause.kind, Markup::Kind::kPause);
  EXPECT_EQ(pause.inside, "1.5s");
  EXPECT_EQ(pause.end, 14U);
  EXPECT_EQ(markup_at("[pause:]", 0).inside, "");
  EXPECT_EQ(markup_at("[pause:a. b]", 0).kind, Markup::Kind::kPause);  // whether it is a time is not asked
}

TEST(Markup, FindsALinkWithItsWordAndTarget) {
  const auto link = markup_at("[word](/wɜːd/). More", 0);
  EXPECT_EQ(link.kind, Markup::Kind::kLink);
  EXPECT_EQ(link.inside, "word");
  EXPECT_EQ(link.target, "/wɜːd/");
  EXPECT_EQ(link.end, std::string_view("[word](/wɜːd/)").size());
  EXPECT_EQ(markup_at("[](x)", 0).kind, Markup::Kind::kLink);
  EXPECT_EQ(markup_at("[a]()", 0).target, "");
}

TEST(Markup, StaysOpenWhileMoreTextMayDecide) {
  for (const char* begun : {"[", "[pau", "[pause:1", "[word", "[word]", "[word](", "[word](/w"}) {
    EXPECT_EQ(markup_at(begun, 0).kind, Markup::Kind::kOpen) << begun;
  }
}

TEST(Markup, IsNoneWhereAnythingElseFollowsTheBracket) {
  for (const char* plain : {"[word] and", "[1] ", "[word].(x)", "[]x"}) {
    EXPECT_EQ(markup_at(plain, 0).kind, Markup::Kind::kNone) << plain;
  }
}

TEST(Markup, LooksNoFurtherThanItsLimit) {
  const std::string fits = "[" + std::string(kLongestMarkup - 5, 'a') + "](b";  // one byte short of its end
  EXPECT_EQ(markup_at(fits, 0).kind, Markup::Kind::kOpen);
  const std::string whole = "[" + std::string(kLongestMarkup - 5, 'a') + "](b)";
  EXPECT_EQ(markup_at(whole, 0).end, kLongestMarkup);
  const std::string longer = "[" + std::string(kLongestMarkup - 4, 'a') + "](b)";
  EXPECT_EQ(markup_at(longer, 0).kind, Markup::Kind::kNone);
  EXPECT_EQ(markup_at("[" + std::string(kLongestMarkup, 'a'), 0).kind, Markup::Kind::kNone);
}

}  // namespace headroom::text
