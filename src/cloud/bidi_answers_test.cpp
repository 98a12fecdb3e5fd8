// Which answers are still owed.
#include "cloud/bidi_answers.hpp"

#include <gtest/gtest.h>

namespace headroom::cloud {
namespace {

constexpr const char* kStart = R"({"type": "synthesis_start"})";
constexpr const char* kComplete = R"({"type": "synthesis_complete"})";
constexpr const char* kError = R"({"type": "error"})";

TEST(OpenAnswers, OwesWhatWasAskedUntilItIsComplete) {
  OpenAnswers answers;
  EXPECT_FALSE(answers.outstanding());  // nothing was asked
  answers.asked(R"({"text": "Hello."})");
  EXPECT_TRUE(answers.outstanding());
  answers.said(kStart, true);
  answers.said("audio", false);
  EXPECT_TRUE(answers.outstanding());
  answers.said(kComplete, true);
  EXPECT_FALSE(answers.outstanding());
}

TEST(OpenAnswers, OwesTheLaterOfPipelinedRequestsToo) {
  OpenAnswers answers;
  answers.asked(R"({"text": "One."})");
  answers.asked(R"({"type": "text", "text": "Tw"})");
  answers.asked(R"({"type": "text", "text": "o.", "final": true})");
  answers.said(kStart, true);
  answers.said(kComplete, true);
  EXPECT_TRUE(answers.outstanding());
  answers.said(kError, true);
  EXPECT_FALSE(answers.outstanding());
}

TEST(OpenAnswers, AnErrorOfNoRequestOwesNothingFurther) {
  OpenAnswers answers;
  answers.asked("nonsense");
  EXPECT_TRUE(answers.outstanding());
  answers.said(kError, true);
  EXPECT_FALSE(answers.outstanding());
}

TEST(OpenAnswers, AnErrorThatNamesItsRequestShowsTheProtocolToo) {
  OpenAnswers answers;
  answers.asked(R"({"text": "One."})");
  answers.asked(R"({"text": "Two."})");
  answers.said(R"({"type": "error", "request_id": "r1"})", true);
  EXPECT_TRUE(answers.outstanding());
}

TEST(OpenAnswers, AContainerOfAnotherProtocolIsNotKnownToOweAnything) {
  OpenAnswers answers;
  answers.asked(R"({"text": "Hello."})");
  answers.said("audio", false);
  EXPECT_FALSE(answers.outstanding());
  answers.said("[1, 2]", true);
  answers.said(R"({"type": 7})", true);
  answers.said("not JSON", true);
  EXPECT_FALSE(answers.outstanding());
}

}  // namespace
}  // namespace headroom::cloud
