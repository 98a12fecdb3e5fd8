// Tests of an engine with its prepared model ($HEADROOM_MODEL; $HEADROOM_ENGINE names the runtime, else
// OpenVINO): same samples whatever runs beside it, limits.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/model_engine.hpp"

namespace headroom::engine {
namespace {

using ::testing::HasSubstr;

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

Engine& engine() {
  static const std::unique_ptr<Engine> kEngine = [] {
    auto made = make_model_engine({.engine = environment("HEADROOM_ENGINE", "openvino"),
                                   .model_dir = environment("HEADROOM_MODEL", ""),
                                   .workers = 2,
                                   .threads = 1});
    if (!made) {
      ADD_FAILURE() << base::describe(made.error()) << " (HEADROOM_MODEL names the model directory)";
      std::exit(1);
    }
    return std::move(made->engine);
  }();
  return *kEngine;
}

// "hello world" in phonemes, cut or repeated to the wanted length.
Segment segment(std::size_t tokens, const std::string& voice = "af_heart", float speed = 1.0F) {
  const std::vector<std::int64_t> text{50, 83, 54, 156, 31, 16, 65, 156, 87, 123, 54, 46, 4, 16};
  Segment s;
  for (std::size_t i = 0; i < tokens; ++i) s.tokens.push_back(text[i % text.size()]);
  s.voice = {{voice}};
  s.speed = speed;
  return s;
}

TEST(EngineModel, HasFiftyFourVoicesAt24Kilohertz) {
  EXPECT_EQ(engine().voices().size(), 54U);
  EXPECT_EQ(engine().sample_rate(), 24000);
  EXPECT_EQ(engine().workers(), 2);
}

TEST(EngineModel, GivesTheSameSamplesWhateverRunsBesideIt) {
  const std::vector<Segment> segments{segment(12), segment(30, "bm_george"), segment(47, "jf_alpha", 1.3F)};
  std::vector<std::vector<float>> alone;
  for (const auto& s : segments) {
    auto samples = engine().synthesize(s);
    ASSERT_TRUE(samples) << base::describe(samples.error());
    EXPECT_GT(samples->size(), 12000U);
    alone.push_back(std::move(*samples));
  }
  std::vector<std::jthread> threads;
  std::atomic<int> different = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::size_t which = (i + t) % segments.size();
        const auto samples = engine().synthesize(segments[which]);
        if (!samples || *samples != alone[which]) ++different;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(different, 0);
}

TEST(EngineModel, SpeaksFasterAndSlower) {
  const auto slow = engine().synthesize(segment(30, "af_heart", 0.5F));
  const auto plain = engine().synthesize(segment(30));
  const auto fast = engine().synthesize(segment(30, "af_heart", 2.0F));
  ASSERT_TRUE(slow && plain && fast);
  EXPECT_GT(slow->size(), plain->size() * 3 / 2);
  EXPECT_LT(fast->size(), plain->size() * 3 / 4);
}

TEST(EngineModel, BlendsBetweenVoices) {
  auto blend = segment(30);
  blend.voice = {{"af_heart", 2.0F}, {"af_bella", 1.0F}};
  const auto mixed = engine().synthesize(blend);
  ASSERT_TRUE(mixed) << base::describe(mixed.error());
  EXPECT_NE(*mixed, *engine().synthesize(segment(30)));
  EXPECT_NE(*mixed, *engine().synthesize(segment(30, "af_bella")));
}

TEST(EngineModel, SpeaksOneTokenAndTheLongestSegment) {
  EXPECT_TRUE(engine().synthesize(segment(1)));
  const auto longest = engine().synthesize(segment(kMaxTokens));
  ASSERT_TRUE(longest) << base::describe(longest.error());
  EXPECT_GT(longest->size(), 24000U * 10);
}

TEST(EngineModel, RefusesWhatTheModelCannotSpeak) {
  EXPECT_FALSE(engine().synthesize(segment(0)));
  EXPECT_FALSE(engine().synthesize(segment(kMaxTokens + 1)));
  auto outside = segment(5);
  outside.tokens[2] = 178;
  EXPECT_THAT(engine().synthesize(outside).error().message, HasSubstr("178"));
  EXPECT_THAT(engine().synthesize(segment(5, "af_nobody")).error().message, HasSubstr("af_nobody"));
  for (const float speed : {0.0F, 0.2F, 4.1F, -1.0F})
    EXPECT_FALSE(engine().synthesize(segment(5, "af_heart", speed)));
}

}  // namespace
}  // namespace headroom::engine
