// Tracking alarms: three datapoints out, a quarter of an hour in, whatever the period.
#include "capacity/tracking_alarms.hpp"

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

TEST(TrackingAlarms, ScaleInTakesFifteenMinutesAtEitherResolution) {
  for (const int period : {10, 60}) {
    const auto pair = tracking_alarms(40, false, period);
    ASSERT_EQ(pair.size(), 2U);
    EXPECT_EQ(pair[0].datapoints, 3);
    EXPECT_EQ(pair[1].datapoints * period, 900);
    EXPECT_STREQ(pair[0].comparison, "GreaterThanThreshold");
    EXPECT_STREQ(pair[1].comparison, "LessThanThreshold");
    EXPECT_EQ(pair[0].threshold, 40);
    EXPECT_EQ(pair[1].threshold, 36);
  }
}

TEST(TrackingAlarms, DisabledScaleInHasNoLowAlarm) {
  const auto alone = tracking_alarms(37.5, true, 10);
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_TRUE(alone[0].high);
}

TEST(TrackingAlarms, KnowThePredefinedMetricsByTheirTypeAlone) {
  const auto* concurrency = predefined_metric("SageMakerVariantConcurrentRequestsPerModelHighResolution");
  ASSERT_NE(concurrency, nullptr);
  EXPECT_EQ(concurrency->period_s, 10);
  EXPECT_STREQ(concurrency->statistic, "Maximum");
  const auto* invocations = predefined_metric("SageMakerVariantInvocationsPerInstance");
  ASSERT_NE(invocations, nullptr);
  EXPECT_EQ(invocations->period_s, 60);
  EXPECT_EQ(predefined_metric("SageMakerVariantConcurrentRequestsPerModel"), nullptr);
  EXPECT_EQ(predefined_metric(""), nullptr);
}

}  // namespace
}  // namespace headroom::capacity
