// UpdateEndpoint: switch over, roll back, keep properties; several variants; timeouts.
#include <gtest/gtest.h>

#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

struct UpdateWorld : TestWorld {
  UpdateWorld() {
    world.settings.quota = 10;
    make_endpoint(2);
    settle();
    call("CreateModel", {{"ModelName", "m2"}, {"PrimaryContainer", {{"Image", "i2"}}}}).value();
  }

  void config(const std::string& name, const Json& variants) {
    call("CreateEndpointConfig", {{"EndpointConfigName", name}, {"ProductionVariants", variants}}).value();
  }
  static Json variant(const std::string& name, int count, double weight = 1) {
    return {{"VariantName", name},
            {"ModelName", "m2"},
            {"InstanceType", "ml.g5.xlarge"},
            {"InitialInstanceCount", count},
            {"InitialVariantWeight", weight}};
  }
  std::string update(const Json& more = Json::object()) {
    Json in{{"EndpointName", "e"}, {"EndpointConfigName", "c2"}};
    in.update(more);
    return refusal("UpdateEndpoint", in);
  }
  Json describe() { return call("DescribeEndpoint", {{"EndpointName", "e"}}).value(); }
  std::string serving_model() {
    const Instance* i = begin_request(world, endpoint(), "", 1);
    if (i == nullptr) return "none";
    const std::string model = i->model;
    end_request(world, "e", i->id);
    return model;
  }
};

TEST(Update, ServesFromTheOldFleetUntilTheWholeNewOneAnswers) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 3)}));
  t.answers = false;
  EXPECT_EQ(t.update(), "");
  t.settle();
  EXPECT_EQ(t.status(), "Updating");
  EXPECT_EQ(t.serving_model(), "m");
  EXPECT_EQ(t.describe()["EndpointConfigName"], "c");
  const Json pending = t.describe()["PendingDeploymentSummary"];
  EXPECT_EQ(pending["EndpointConfigName"], "c2");
  EXPECT_EQ(pending["ProductionVariants"][0]["DesiredInstanceCount"], 3);
  for (std::size_t i = 0; i < 2; ++i) t.endpoint().pending->instances[i].answered_ping = true;
  t.settle();
  EXPECT_EQ(t.serving_model(), "m");
  t.endpoint().pending->instances[2].answered_ping = true;
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving_model(), "m2");
  EXPECT_EQ(t.endpoint().instances.size(), 3U);
  EXPECT_EQ(t.describe()["EndpointConfigName"], "c2");
  EXPECT_FALSE(t.describe().contains("PendingDeploymentSummary"));
}

TEST(Update, IsRolledBackWhenNewInstancesDie) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 1)}));
  t.dies = true;
  EXPECT_EQ(t.update(), "");
  for (int i = 0; i < 10; ++i) {
    t.settle(5);
    t.clock.advance(seconds(1));
  }
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving_model(), "m");
  EXPECT_EQ(t.serving(), 2);
  EXPECT_EQ(t.describe()["EndpointConfigName"], "c");
  EXPECT_NE(t.describe()["FailureReason"].get<std::string>().find("rolled back"), std::string::npos);
}

TEST(Update, IsRolledBackWhenTheHealthCheckTakesTooLong) {
  UpdateWorld t;
  Json slow = UpdateWorld::variant("v", 1);
  slow["ContainerStartupHealthCheckTimeoutInSeconds"] = 60;
  slow["ModelDataDownloadTimeoutInSeconds"] = 90;
  t.config("c2", Json::array({slow}));
  t.answers = false;
  EXPECT_EQ(t.update(), "");
  t.settle();
  t.clock.advance(seconds(149));
  t.settle();
  EXPECT_EQ(t.status(), "Updating");
  t.clock.advance(seconds(2));
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving_model(), "m");
  EXPECT_EQ(t.endpoint().instances.size(), 2U);
}

TEST(Update, IsRolledBackByAnAlarmThatRings) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 1)}));
  t.answers = false;
  EXPECT_EQ(
      t.update({{"DeploymentConfig", {{"AutoRollbackConfiguration", {{"Alarms", {{{"AlarmName", "a"}}}}}}}}}),
      "");
  t.settle();
  EXPECT_EQ(t.status(), "Updating");
  t.world.alarms["a"] = {{"AlarmName", "a"}, {"StateValue", "ALARM"}};
  t.look();
  EXPECT_EQ(t.status(), "RollingBack");
  EXPECT_NE(t.update().find("Cannot update in-progress endpoint"), std::string::npos);
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving_model(), "m");
}

TEST(Update, KeepsCountsAndWeightsWhenAsked) {
  UpdateWorld t;
  t.scale(3);
  t.settle();
  t.config("c2", Json::array({UpdateWorld::variant("v", 1, 5)}));
  EXPECT_EQ(t.update({{"RetainAllVariantProperties", true},
                      {"ExcludeRetainedVariantProperties", {{{"VariantPropertyType", "DesiredWeight"}}}}}),
            "");
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.serving(), 3);
  EXPECT_EQ(t.endpoint().variants[0].weight, 5);
}

TEST(Update, KeepsTheOldFleetForTheTerminationWait) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 1)}));
  EXPECT_EQ(
      t.update({{"DeploymentConfig",
                 {{"BlueGreenUpdatePolicy",
                   {{"TrafficRoutingConfiguration", {{"Type", "ALL_AT_ONCE"}, {"WaitIntervalInSeconds", 0}}},
                    {"TerminationWaitInSeconds", 30}}}}}}),
      "");
  t.settle();
  EXPECT_EQ(t.serving_model(), "m2");
  EXPECT_EQ(t.status(), "Updating");
  EXPECT_EQ(t.endpoint().instances.size(), 3U);
  t.clock.advance(seconds(31));
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.endpoint().instances.size(), 1U);
  EXPECT_EQ(t.describe()["LastDeploymentConfig"]["BlueGreenUpdatePolicy"]["TerminationWaitInSeconds"], 30);
}

TEST(Update, NeedsRoomForBothFleets) {
  UpdateWorld t;
  t.world.settings.quota = 4;
  t.config("c2", Json::array({UpdateWorld::variant("v", 3)}));
  EXPECT_NE(t.update().find("is 4 Instances, with current utilization of 2"), std::string::npos);
  EXPECT_EQ(t.status(), "InService");
}

TEST(Update, RefusesWhatThisCloudDoesNotDo) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 1)}));
  EXPECT_NE(t.refusal("UpdateEndpoint", {{"EndpointName", "e"}, {"EndpointConfigName", "none"}})
                .find("Could not find endpoint configuration"),
            std::string::npos);
  EXPECT_NE(t.update({{"DeploymentConfig", {{"RollingUpdatePolicy", Json::object()}}}}).find("not offered"),
            std::string::npos);
  const Json canary{{"Type", "CANARY"}, {"WaitIntervalInSeconds", 0}};
  EXPECT_NE(
      t.update({{"DeploymentConfig", {{"BlueGreenUpdatePolicy", {{"TrafficRoutingConfiguration", canary}}}}}})
          .find("CANARY is not offered"),
      std::string::npos);
  EXPECT_NE(t.update({{"ExcludeRetainedVariantProperties", {{{"VariantPropertyType", "X"}}}}})
                .find("enum value set"),
            std::string::npos);
  EXPECT_EQ(t.status(), "InService");
}

TEST(Update, BringsNewVariantsAndRemovesOldOnes) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("blue", 1, 0), UpdateWorld::variant("green", 1, 1)}));
  EXPECT_EQ(t.update(), "");
  t.settle();
  EXPECT_EQ(t.status(), "InService");
  for (std::uint64_t i = 0; i < 50; ++i)
    EXPECT_EQ(begin_request(t.world, t.endpoint(), "", i * 7919)->variant, "green");
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "blue", 0)->variant, "blue");
  EXPECT_EQ(begin_request(t.world, t.endpoint(), "v", 0), nullptr);
}

TEST(Update, SurvivesARestart) {
  UpdateWorld t;
  t.config("c2", Json::array({UpdateWorld::variant("v", 1)}));
  t.answers = false;
  EXPECT_EQ(t.update(), "");
  t.settle();
  TestWorld second;
  const auto orphans = load_world(save_world(t.world), second.world);
  ASSERT_TRUE(orphans);
  EXPECT_EQ(orphans->size(), 3U);
  second.settle();
  EXPECT_EQ(second.status(), "InService");
  EXPECT_EQ(second.endpoint().config, "c2");
}

TEST(Faults, AStartThatIsToldToFailIsTriedAgain) {
  TestWorld t;
  t.world.faults.fail_starts = 2;
  t.make_endpoint();
  for (int i = 0; i < 10; ++i) {
    t.settle(5);
    t.clock.advance(seconds(1));
  }
  EXPECT_EQ(t.status(), "InService");
  t.world.faults.fail_starts = 100;
  EXPECT_EQ(t.scale(2), "");
  for (int i = 0; i < 10; ++i) {
    t.settle(5);
    t.clock.advance(seconds(1));
  }
  EXPECT_EQ(t.status(), "InService");
  EXPECT_EQ(t.endpoint().variants[0].desired, 1);
}

TEST(Lists, FilterSortAndPage) {
  TestWorld t;
  for (const char* name : {"b", "a", "ax"}) {
    t.call("CreateModel", {{"ModelName", name}, {"PrimaryContainer", {{"Image", "i"}}}}).value();
    t.clock.advance(seconds(1));
  }
  const auto names = [&](const Json& in) {
    std::string out;
    const Json answer = t.call("ListModels", in).value();
    for (const Json& row : answer["Models"]) out += row["ModelName"].get<std::string>() + " ";
    return out;
  };
  EXPECT_EQ(names(Json::object()), "ax a b ");
  EXPECT_EQ(names({{"SortBy", "Name"}, {"SortOrder", "Ascending"}}), "a ax b ");
  EXPECT_EQ(names({{"NameContains", "a"}}), "ax a ");
  EXPECT_EQ(names({{"CreationTimeAfter", epoch_seconds(t.clock.wall()) - 2.5}}), "ax a ");
  const Json first = t.call("ListModels", {{"MaxResults", 2}}).value();
  EXPECT_EQ(names({{"MaxResults", 2}, {"NextToken", first["NextToken"]}}), "b ");
  EXPECT_NE(t.refusal("ListModels", {{"SortBy", "Status"}}), "");
  EXPECT_NE(t.refusal("ListEndpoints", {{"StatusEquals", "Happy"}}), "");
  EXPECT_NE(t.refusal("ListEndpointConfigs", {{"MaxResults", 101}}), "");
  EXPECT_NE(t.refusal("ListEndpoints", {{"NextToken", "x"}}), "");
}

}  // namespace
}  // namespace headroom::cloud
