// Tests of the planners: what of a request reaches the engine's segments.
#include "serve/planner.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

SpeechRequest request_at(float speed) {
  SpeechRequest request;
  while (request.text.size() < 1500) request.text += "hello world hello world, ";
  request.characters = request.text.size();
  request.voice = {{"af_heart", 1.0F}};
  request.speed = speed;
  return request;
}

}  // namespace

// A segment's memory and its time in the engine go with its seconds of audio.
TEST(Planner, CutsSlowSpeechIntoSegmentsOfFewerTokens) {
  auto frontend = text::Frontend::create(
      {.model_dir = "tests/golden/text/model", .use_espeak = false, .limits = {.most = 200, .aim = 160}});
  ASSERT_TRUE(frontend);
  const Planner plan = text_planner(std::move(*frontend));
  const auto usual = plan(request_at(1.0F));
  const auto slow = plan(request_at(0.25F));
  ASSERT_TRUE(usual);
  ASSERT_TRUE(slow);
  for (const auto& planned : slow->segments) {
    EXPECT_LE(planned.segment.tokens.size(), 50U);
    EXPECT_EQ(planned.segment.speed, 0.25F);
  }
  EXPECT_GT(slow->segments.size(), 3 * usual->segments.size());
}

TEST(Planner, TellsWhatOfTheTextHasNoSound) {
  auto frontend = text::Frontend::create({.model_dir = "tests/golden/text/model", .use_espeak = false});
  ASSERT_TRUE(frontend);
  const Planner plan = text_planner(std::move(*frontend));
  SpeechRequest request = request_at(1.0F);
  EXPECT_EQ(plan(request)->dropped_symbols, 0U);
  request.text = "你好 hello 🙂";
  EXPECT_EQ(plan(request)->dropped_symbols, 3U);
}

TEST(Planner, ThePacedEngineServesARequestOrEachSentence) {
  SpeechRequest request = request_at(1.0F);
  request.text = "One here. Two here. Three";
  request.characters = request.text.size();
  EXPECT_EQ(paced_planner()(request)->segments.size(), 1U);
  EXPECT_EQ(paced_planner(PacedUnit::kSentence)(request)->segments.size(), 3U);
}

}  // namespace headroom::serve
