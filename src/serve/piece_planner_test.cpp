// Sentences planned one by one.
#include "serve/piece_planner.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

// Digits cannot be spoken; "lang" has no voice; anything else is one segment with a symbol left out.
base::Result<SpeechPlan> plan_one(const SpeechRequest& request) {
  if (request.text == "123")
    return tl::unexpected(
        base::Error{base::ErrorCode::kInvalidArgument, "nothing to say", "unspeakable_text"});
  if (request.text == "lang")
    return tl::unexpected(base::Error{base::ErrorCode::kInvalidArgument, "no", "unsupported_language"});
  SpeechPlan plan;
  plan.segments.resize(1);
  plan.dropped_symbols = 1;
  return plan;
}

class PiecePlannerTest : public testing::Test {
 protected:
  std::vector<PlannedSegment> plan(std::string text, bool final = false) {
    SpeechRequest sentence;
    sentence.text = std::move(text);
    sentence.speed = 2.0F;
    auto planned = pieces_.plan(sentence, final);
    EXPECT_TRUE(planned);
    return planned ? *planned : std::vector<PlannedSegment>{};
  }
  const Planner planner_ = plan_one;
  Metrics metrics_{{"test", 1, false}};
  PiecePlanner pieces_{planner_, metrics_};
};

}  // namespace

TEST_F(PiecePlannerTest, PutsASentencesPauseBehindEachButTheLast) {
  EXPECT_DOUBLE_EQ(plan("One.").at(0).pause_after_s, 0.2);  // 0.4 s at twice the speed
  EXPECT_DOUBLE_EQ(plan("Two.", true).at(0).pause_after_s, 0.0);
  EXPECT_NE(metrics_.text({}).find("headroom_dropped_symbols_total 2\n"), std::string::npos);
}

TEST_F(PiecePlannerTest, PassesOverWhatSaysNothing) {
  EXPECT_TRUE(plan("  ").empty());
  EXPECT_TRUE(plan("123").empty());
  EXPECT_TRUE(plan("", true).empty());
}

TEST_F(PiecePlannerTest, TellsOtherErrors) {
  SpeechRequest sentence;
  sentence.text = "lang";
  const auto planned = pieces_.plan(sentence, false);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().context, "unsupported_language");
}

}  // namespace headroom::serve
