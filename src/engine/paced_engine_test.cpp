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

}  // namespace headroom::engine
