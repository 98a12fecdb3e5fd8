// Faults on demand and the status snapshot, on a world without processes.
#include "cloud/control.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "cloud/status_page.hpp"
#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

std::string refused(TestWorld& t, const Json& faults) {
  const auto applied = apply_faults(t.world, faults);
  return applied ? "" : applied.error().message;
}

TEST(Control, SignalsTheOldestInstanceInServiceOrTheNamedOne) {
  TestWorld t;
  t.make_endpoint(2);
  t.settle();
  EXPECT_EQ(refused(t, {{"kill", {{"endpoint", "e"}}}}), "");
  const std::string second = t.endpoint().instances[1].id;
  EXPECT_EQ(refused(t, {{"stall", {{"endpoint", "e"}, {"instance", second}}}}), "");
  EXPECT_EQ(refused(t, {{"stall", {{"endpoint", "e"}, {"on", false}}}}), "");
  ASSERT_EQ(t.world.signals.size(), 3U);
  EXPECT_EQ(t.world.signals[0].instance, t.endpoint().instances[0].id);
  EXPECT_EQ(t.world.signals[0].signal, SIGKILL);
  EXPECT_EQ(t.world.signals[1].instance, second);
  EXPECT_EQ(t.world.signals[1].signal, SIGSTOP);
  EXPECT_EQ(t.world.signals[2].signal, SIGCONT);
}

TEST(Control, RefusesWhatItDoesNotKnowAndChangesNothing) {
  TestWorld t;
  EXPECT_NE(refused(t, {{"burn", 1}}).find("'burn' is no fault"), std::string::npos);
  EXPECT_NE(refused(t, {{"kill", {{"endpoint", "none"}}}, {"fail_starts", 3}}), "");
  EXPECT_NE(refused(t, {{"fail_starts", -1}}), "");
  EXPECT_NE(refused(t, {{"throttle", 5}}), "");
  EXPECT_NE(refused(t, {{"kill", "e"}}), "");
  EXPECT_EQ(t.world.faults.fail_starts, 0);
  EXPECT_TRUE(t.world.signals.empty());
}

TEST(Control, CountsThrottledCallsByNameAndForAny) {
  TestWorld t;
  EXPECT_EQ(refused(t, {{"throttle", {{"operation", "A"}, {"count", 1}}}}), "");
  EXPECT_EQ(refused(t, {{"throttle", {{"operation", "*"}, {"count", 1}}}}), "");
  EXPECT_TRUE(take_throttle(t.world, "A"));
  EXPECT_TRUE(take_throttle(t.world, "B"));
  EXPECT_FALSE(take_throttle(t.world, "A"));
  EXPECT_EQ(show_faults(t.world)["throttle"], Json::object());
}

TEST(StatusPage, ShowsInstancesAndTheLinesOfTheirPolicies) {
  TestWorld t;
  t.make_endpoint(2);
  t.settle();
  begin_request(t.world, t.endpoint(), "", 0);
  const Json id{{"ServiceNamespace", "sagemaker"},
                {"ResourceId", "endpoint/e/variant/v"},
                {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"}};
  Json in = id;
  in.update({{"MinCapacity", 1}, {"MaxCapacity", 3}});
  t.call("RegisterScalableTarget", in).value();
  in = id;
  in.update({{"PolicyName", "p"},
             {"PolicyType", "TargetTrackingScaling"},
             {"TargetTrackingScalingPolicyConfiguration",
              {{"TargetValue", 5.0},
               {"PredefinedMetricSpecification",
                {{"PredefinedMetricType", "SageMakerVariantConcurrentRequestsPerModelHighResolution"}}}}}});
  t.call("PutScalingPolicy", in).value();
  const Json snapshot = status_snapshot(t.world, t.clock.wall());
  const Json& variant = snapshot["endpoints"][0]["variants"][0];
  EXPECT_EQ(variant["in_flight"], 1);
  EXPECT_EQ(variant["instances"].size(), 2U);
  EXPECT_EQ(variant["max"], 3);
  EXPECT_EQ(variant["lines"][0]["name"], "p: target");
  EXPECT_EQ(variant["lines"][0]["value"], 5.0);
  EXPECT_EQ(status_page("abc").find("NONCE"), std::string::npos);
}

}  // namespace
}  // namespace headroom::cloud
