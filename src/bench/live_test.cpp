// The queue limit of a container, read as the container reads it.
#include "bench/live.hpp"

#include <gtest/gtest.h>

namespace headroom::bench {

TEST(QueueLimit, IsReadInTheOrderOfTheContainer) {
  EXPECT_EQ(queue_limit_of({{"MAX_QUEUE_DEPTH", "50"}}), 50);
  EXPECT_EQ(queue_limit_of({{"MAX_QUEUE_DEPTH", "50"}, {"TTS_MAX_QUEUE_DEPTH", "7"}}), 7);
  EXPECT_EQ(queue_limit_of({{"MAX_QUEUE_DEPTH", "50"}, {"TTS_MAX_QUEUE_DEPTH", ""}}), 50);
}

TEST(QueueLimit, OfZeroIsNoneAndDoesNotFallBack) {
  EXPECT_FALSE(queue_limit_of({{"MAX_QUEUE_DEPTH", "50"}, {"TTS_MAX_QUEUE_DEPTH", "0"}}));
  EXPECT_FALSE(queue_limit_of({{"MAX_QUEUE_DEPTH", "0"}}));
  EXPECT_FALSE(queue_limit_of({}));
  EXPECT_FALSE(queue_limit_of({{"MAX_QUEUE_DEPTH", "many"}}));
}

}  // namespace headroom::bench
