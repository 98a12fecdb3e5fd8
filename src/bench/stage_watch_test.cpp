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

namespace {

aws::EndpointDescription reading(const std::string& status, int desired, const std::string& reason = {}) {
  aws::EndpointDescription out;
  out.status = status;
  out.failure_reason = reason;
  aws::VariantSummary variant;
  variant.name = "AllTraffic";
  variant.current_instance_count = 1;
  variant.desired_instance_count = desired;
  out.variants.push_back(variant);
  return out;
}

}  // namespace

TEST(ScaleOut, ThatWasTakenBackIsNoticedWithItsReason) {
  ScaleOutWatch watch("AllTraffic", 2);
  EXPECT_FALSE(watch.see(reading("InService", 1)));  // not yet shown
  EXPECT_FALSE(watch.see(reading("Updating", 2)));
  const auto why = watch.see(reading("InService", 1, "no capacity"));
  ASSERT_TRUE(why);
  EXPECT_EQ(*why, "the service went back to 1 instance(s) instead of 2; FailureReason: no capacity");
}

TEST(ScaleOut, OfAFailedEndpointIsOver) {
  ScaleOutWatch watch("AllTraffic", 2);
  EXPECT_EQ(watch.see(reading("Failed", 2)), "the endpoint is Failed; it gave no FailureReason");
}

TEST(ScaleOut, ThatNeverBeginsIsNoticedAfterAWhile) {
  ScaleOutWatch watch("AllTraffic", 2);
  int readings = 1;
  while (!watch.see(reading("InService", 1)) && readings < 1000) ++readings;
  EXPECT_EQ(readings, 30);
}

TEST(ScaleOut, GoesOnWhileTheCountIsWantedAndOnReadingsThatSayNothing) {
  ScaleOutWatch watch("AllTraffic", 2);
  EXPECT_FALSE(watch.see(reading("Updating", 1)));
  EXPECT_FALSE(watch.see(reading("InService", 2)));
  EXPECT_FALSE(watch.see({}));
}

}  // namespace headroom::bench
