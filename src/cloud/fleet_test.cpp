// Instances and endpoints over time, and routing.
#include "cloud/fleet.hpp"

#include <gtest/gtest.h>

#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

TEST(Fleet, IsInServiceOnlyAfterAPing) {
  TestWorld t;
  t.answers = false;
  t.make_endpoint();
  t.settle();
  EXPECT_EQ(t.status(), "Creating");
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "", 0), nullptr);
  t.endpoint().instances[0].answered_ping = true;
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_NE(begin_request(t.world, t.endpoint(), "", 0), nullptr);
}

TEST(Fleet, WaitsOutTheProvisioningDelayScaledByFast) {
  TestWorld t;
  t.world.settings.provision_delay = seconds(40);
  t.world.settings.fast = 4;
  t.make_endpoint();
  t.look();
  t.clock.advance(seconds(9));
  t.settle();
  EXPECT_EQ(t.status(), "Creating");
  t.clock.advance(seconds(1));
  t.settle();
  EXPECT_EQ(t.status(), "InService");
}

TEST(Fleet, ScalesOutAndBackThroughUpdating) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  EXPECT_EQ(t.scale(3), "");
  EXPECT_EQ(t.status(), "Updating");
  EXPECT_NE(t.scale(2).find("Cannot update in-progress endpoint"), std::string::npos);
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving(), 3);
  t.scale(1);
  t.settle();
  EXPECT_EQ(t.serving(), 1);
  EXPECT_EQ(t.endpoint().instances.size(), 1U);
}

TEST(Fleet, LetsADrainingInstanceFinishAndGivesItNothingNew) {
  TestWorld t;
  t.make_endpoint(2, {{"RoutingConfig", {{"RoutingStrategy", "LEAST_OUTSTANDING_REQUESTS"}}}});
  t.settle();
  std::vector<std::string> held;
  for (unsigned i = 0; i < 4; ++i) held.push_back(begin_request(t.world, t.endpoint(), "", i)->id);
  t.scale(1);
  t.settle();
  ASSERT_EQ(count_in_state(t.endpoint(), "v", InstanceState::kDraining), 1);
  EXPECT_EQ(t.status(), "Updating");
  const std::string staying = begin_request(t.world, t.endpoint(), "", 7)->id;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(begin_request(t.world, t.endpoint(), "", 7)->id, staying);
  for (const auto& id : held) end_request(t.world, "e", id);
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.endpoint().instances.size(), 1U);
}

TEST(Fleet, ReplacesAnInstanceThatDies) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  const std::string first = t.endpoint().instances[0].id;
  t.endpoint().instances[0].exited = true;
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "", 0), nullptr);
  t.settle();
  EXPECT_EQ(t.serving(), 0);
  t.clock.advance(seconds(2));
  t.settle();
  EXPECT_EQ(t.serving(), 1);
  EXPECT_NE(t.endpoint().instances[0].id, first);
  EXPECT_EQ(t.status(), "InService");
}

TEST(Fleet, FailsWithTheLastLineWhenStartsKeepFailing) {
  TestWorld t;
  t.dies = true;
  t.make_endpoint();
  t.world.logs.append("/aws/sagemaker/Endpoints/e", "v/i-1", 1, "no model in /nowhere");
  for (int i = 0; i < 20; ++i) {
    t.settle(5);
    t.clock.advance(seconds(1));
  }
  EXPECT_EQ(t.status(), "Failed");
  EXPECT_NE(t.endpoint().failure_reason.find("no model in /nowhere"), std::string::npos);
  EXPECT_TRUE(t.endpoint().instances.empty());
}

TEST(Fleet, FailsWhenTheStartupTimeIsOver) {
  TestWorld t;
  t.answers = false;
  t.make_endpoint(1, {{"ContainerStartupHealthCheckTimeoutInSeconds", 60}});
  t.settle();
  t.clock.advance(seconds(61));
  t.settle();
  EXPECT_EQ(t.status(), "Failed");
}

TEST(Fleet, RollsAFailedScaleOutBack) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  t.dies = true;
  t.scale(2);
  for (int i = 0; i < 20; ++i) {
    t.settle(5);
    t.clock.advance(seconds(1));
  }
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.endpoint().variants[0].desired, 1);
  EXPECT_NE(t.endpoint().failure_reason, "");
}

TEST(Fleet, RemovesADeletedEndpointAndLeavesItsTarget) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  t.call("RegisterScalableTarget", {{"ServiceNamespace", "sagemaker"},
                                    {"ResourceId", "endpoint/e/variant/v"},
                                    {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"},
                                    {"MinCapacity", 1},
                                    {"MaxCapacity", 2}})
      .value();
  t.call("DeleteEndpoint", {{"EndpointName", "e"}}).value();
  EXPECT_EQ(t.status(), "Deleting");
  t.settle();
  EXPECT_EQ(t.status(), "gone");
  EXPECT_EQ(t.world.targets.size(), 1U);
}

TEST(Routing, PrefersTheInstanceWithFewestInFlight) {
  TestWorld t;
  t.make_endpoint(3, {{"RoutingConfig", {{"RoutingStrategy", "LEAST_OUTSTANDING_REQUESTS"}}}});
  t.settle();
  for (std::uint64_t i = 0; i < 30; ++i) begin_request(t.world, t.endpoint(), "", i << 33U);
  for (const Instance& i : t.endpoint().instances) EXPECT_EQ(i.in_flight, 10);
}

TEST(Routing, SpreadsVariantsByWeight) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  Variant other = t.endpoint().variants[0];
  other.name = "w";
  other.weight = 3;
  t.endpoint().variants.push_back(other);
  t.settle();
  std::map<std::string, int> counts;
  std::uint64_t random = 1;
  for (int i = 0; i < 4000; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    Instance* instance = begin_request(t.world, t.endpoint(), "", random >> 7U);
    ++counts[instance->variant];
    end_request(t.world, "e", instance->id);
  }
  EXPECT_NEAR(counts["w"], 3000, 150);
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "v", 0)->variant, "v");
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "nope", 0), nullptr);
}

TEST(Bounds, BringTheCountWithinTheTargetUnlessSuspended) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  const Json id{{"ServiceNamespace", "sagemaker"},
                {"ResourceId", "endpoint/e/variant/v"},
                {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"}};
  Json in = id;
  in.update(
      {{"MinCapacity", 2}, {"MaxCapacity", 3}, {"SuspendedState", {{"DynamicScalingOutSuspended", true}}}});
  t.call("RegisterScalableTarget", in).value();
  t.settle();
  EXPECT_EQ(t.serving(), 1);
  in = id;
  in["SuspendedState"] = {{"DynamicScalingOutSuspended", false}};
  t.call("RegisterScalableTarget", in).value();
  t.settle();
  EXPECT_EQ(t.serving(), 2);
  const Json activities =
      t.call("DescribeScalingActivities", {{"ServiceNamespace", "sagemaker"}})->at("ScalingActivities");
  ASSERT_EQ(activities.size(), 1U);
  EXPECT_EQ(activities[0]["Cause"], "minimum capacity was set to 2");
}

}  // namespace
}  // namespace headroom::cloud
