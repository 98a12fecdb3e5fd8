// Tests of the lines of the log.
#include "serve/log_words.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {

TEST(LogWords, AnEndedRequestIsOneLineWhateverItsIdIs) {
  EXPECT_EQ(request_end("a b\n", "/r", "cancelled"), "request id=a_b_ route=/r outcome=cancelled");
  EXPECT_EQ(request_end("a", "/r", "rejected", "missing_text"),
            "request id=a route=/r outcome=rejected error=missing_text");
}

TEST(LogWords, ADrainTellsWhoseAnswersWereCutOff) {
  EXPECT_EQ(drained_words(true, 0), "all answered");
  EXPECT_NE(drained_words(true, 2).find("2 still taking"), std::string::npos);
  EXPECT_NE(drained_words(false, 2).find("dropped"), std::string::npos);
}

}  // namespace headroom::serve
