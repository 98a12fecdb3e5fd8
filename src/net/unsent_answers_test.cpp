// Who is cut when slow clients hold too much.
#include "net/unsent_answers.hpp"

#include <string>

#include <gtest/gtest.h>

namespace headroom::net {
namespace {

class UnsentAnswersTest : public testing::Test {
 protected:
  auto cutting(char name) {
    return [this, name] { cut_.push_back(name); };
  }
  std::string cut_;
  UnsentAnswers answers_{100};
};

}  // namespace

TEST_F(UnsentAnswersTest, CountsWhatIsHeldAndCutsNobodyUpToTheLimit) {
  {
    const auto a = answers_.hold(60, cutting('a'));
    const auto b = answers_.hold(40, cutting('b'));
    EXPECT_EQ(answers_.bytes(), 100U);
  }
  const auto c = answers_.hold(100, cutting('c'));
  EXPECT_EQ(answers_.bytes(), 100U);
  EXPECT_EQ(cut_, "");
}

TEST_F(UnsentAnswersTest, CutsTheOldestUntilTheRestFits) {
  const auto head = answers_.hold(0, cutting('h'));  // has nothing to give back
  const auto a = answers_.hold(40, cutting('a'));
  const auto b = answers_.hold(40, cutting('b'));
  const auto c = answers_.hold(20, cutting('c'));
  const auto d = answers_.hold(70, cutting('d'));
  EXPECT_EQ(cut_, "ab");
  EXPECT_EQ(answers_.bytes(), 170U);  // until their connections have ended
  EXPECT_EQ(answers_.cut(), 2U);
}

TEST_F(UnsentAnswersTest, CutsEachOnceAndDoesNotCountItAgain) {
  const auto a = answers_.hold(90, cutting('a'));
  {
    const auto b = answers_.hold(90, cutting('b'));
    EXPECT_EQ(cut_, "a");
  }
  const auto c = answers_.hold(90, cutting('c'));
  EXPECT_EQ(cut_, "a");  // a still lies there, but is on its way out
}

TEST_F(UnsentAnswersTest, OneThatIsLargerThanTheLimitIsTakenAllTheSame) {
  const auto a = answers_.hold(500, cutting('a'));
  EXPECT_EQ(cut_, "");
  const auto b = answers_.hold(1, cutting('b'));
  EXPECT_EQ(cut_, "a");
}

}  // namespace headroom::net
