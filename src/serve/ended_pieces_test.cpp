// Which late pieces are dropped, and until when.
#include "serve/ended_pieces.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {

TEST(EndedPieces, DropsLatePiecesUntilTheFinalOne) {
  EndedPieces ended;
  EXPECT_FALSE(ended.drop("a", false));
  ended.add("a");
  EXPECT_TRUE(ended.drop("a", false));
  EXPECT_FALSE(ended.drop("b", false));
  EXPECT_TRUE(ended.drop("a", true));
  EXPECT_FALSE(ended.drop("a", false));
}

TEST(EndedPieces, ForgetsAnIdThatBeginsSomethingNew) {
  EndedPieces ended;
  ended.add("a");
  ended.forget("a");
  EXPECT_FALSE(ended.drop("a", false));
}

TEST(EndedPieces, KeepsTheNewestOnly) {
  EndedPieces ended;
  for (std::size_t i = 0; i <= EndedPieces::kMost; ++i) ended.add(std::to_string(i));
  EXPECT_FALSE(ended.drop("0", false));
  EXPECT_TRUE(ended.drop("1", false));
  ended.add("1");  // twice the same takes one place
  EXPECT_TRUE(ended.drop("2", false));
}

}  // namespace headroom::serve
