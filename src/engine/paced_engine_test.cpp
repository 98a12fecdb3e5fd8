// The paced engine's tone and its determinism.
#include "engine/paced_engine.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace headroom::engine {

TEST(PacedEngine, SpeaksAsLongAsKokoroWould) {
  const auto engine = make_paced_engine({.service_ms = 0.0, .overhead_ms = 0.0, .jitter = 0.0});
  Segment segment;
  segment.characters = 30;
  const auto samples = engine->synthesize(segment);
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), static_cast<std::size_t>(spoken_seconds(30, 1.0F) * engine->sample_rate()));
  EXPECT_GT(*std::max_element(samples->begin(), samples->end()), 0.1F);
}

TEST(PacedEngine, SpeaksHalfAsLongAtDoubleSpeed) {
  EXPECT_DOUBLE_EQ(spoken_seconds(100, 2.0F), spoken_seconds(100, 1.0F) / 2.0);
}

TEST(PacedEngine, ServesTheNextRequestFromWhereTheLastEndedHoweverLateItIsAsked) {
  const auto engine = make_paced_engine({.service_ms = 20.0, .overhead_ms = 0.0, .jitter = 0.0});
  const auto began = std::chrono::steady_clock::now();
  Segment segment;
  segment.characters = 1;
  segment.ready = began - std::chrono::milliseconds(40);  // both have been waiting for two services
  ASSERT_TRUE(engine->synthesize(segment));
  ASSERT_TRUE(engine->synthesize(segment));
  segment.ready = {};  // from no queue: a whole service from now on
  ASSERT_TRUE(engine->synthesize(segment));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(20));
}

// After a stop of half a second it used to serve nine requests at once, which no model can.
TEST(PacedEngine, DoesNotMakeUpForATimeItStoodStill) {
  const auto engine = make_paced_engine({.service_ms = 20.0, .overhead_ms = 0.0, .jitter = 0.0});
  const auto began = std::chrono::steady_clock::now();
  Segment segment;
  segment.characters = 1;
  segment.ready = began - std::chrono::seconds(1);
  ASSERT_TRUE(engine->synthesize(segment));
  ASSERT_TRUE(engine->synthesize(segment));
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(20));
}

}  // namespace headroom::engine
