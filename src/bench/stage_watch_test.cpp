// Stage lines as instances write them.
#include "bench/stage_watch.hpp"

#include <gtest/gtest.h>

#include "base/names.hpp"

namespace headroom::bench {

TEST(StageLine, IsReadFromALogLine) {
  const auto line =
      parse_stage_line("=== STAGE weights_ready t=2026-11-29T15:15:22.110Z elapsed_s=0.014 ===");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "weights_ready");
  EXPECT_EQ(base::format_iso8601(line->at), "2026-11-29T15:15:22.110Z");
}

TEST(StageLine, MayFollowAPrefix) {
  EXPECT_TRUE(parse_stage_line("[container] === STAGE ready t=2026-11-29T15:15:22.110Z elapsed_s=1 ==="));
}

TEST(StageLine, IsNotSeenInOtherLines) {
  for (const char* text :
       {"", "ready", "=== STAGE", "=== STAGE ready", "=== STAGE ready t=yesterday elapsed_s=1 ==="}) {
    EXPECT_FALSE(parse_stage_line(text)) << text;
  }
}

}  // namespace headroom::bench
