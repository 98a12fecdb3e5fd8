// The policy scaler: the alarms of target tracking ring in the simulation when they would in the cloud.
#include "capacity/sim_scaler.hpp"

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

constexpr const char* kConcurrency = "SageMakerVariantConcurrentRequestsPerModelHighResolution";
constexpr const char* kInvocations = "SageMakerVariantInvocationsPerInstance";

struct Change {
  double at_s = 0;
  int desired = 0;
};

// What the policy first does with four instances, each with so much load all the time.
std::optional<Change> first_change(const char* metric, double target, const SimBucket& load) {
  Policy policy;
  policy.scale_out = {
      {"t", "TargetTrackingScaling", TargetTrackingRule{target, metric, false, 30, 60}, std::nullopt}};
  const auto scaler = policy_scaler(policy, {1, 9, false, false}, CapacityBase::kInService);
  SimMetrics metrics;
  while (metrics.now_s() < 3600) {
    metrics.add(load);
    if (const auto desired = scaler->decide(metrics, {4, 4})) return Change{metrics.now_s(), *desired};
  }
  return std::nullopt;
}

SimBucket of_level(double level) {
  SimBucket bucket;
  bucket.instances = 4;
  bucket.level_max = level;
  return bucket;
}

SimBucket of_requests(double offered) {
  SimBucket bucket;
  bucket.instances = 4;
  bucket.offered = offered;
  return bucket;
}

TEST(PolicyScaler, TrackingScalesOutAfterThreePeriods) {
  const auto out = first_change(kConcurrency, 10, of_level(20));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at_s, 30);
  EXPECT_EQ(out->desired, 8);
  const auto slower = first_change(kInvocations, 60, of_requests(80));  // 120 a minute and instance
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->at_s, 180);
  EXPECT_EQ(slower->desired, 8);
}

TEST(PolicyScaler, TrackingScalesInAfterAQuarterOfAnHourAtEitherResolution) {
  for (const auto& in : {first_change(kConcurrency, 10, of_level(5)),
                         first_change(kInvocations, 60, of_requests(20))}) {  // 30 a minute and instance
    ASSERT_TRUE(in);
    EXPECT_EQ(in->at_s, 900);
    EXPECT_EQ(in->desired, 2);
  }
}

TEST(PolicyScaler, TrackingIsContentBetweenItsLines) {
  EXPECT_FALSE(first_change(kConcurrency, 10, of_level(9.5)));
  EXPECT_FALSE(first_change(kInvocations, 60, of_requests(0))) << "no request, no datapoint";
}

}  // namespace
}  // namespace headroom::capacity
