// Policies at work on a world whose clock is turned by hand: alarms ring, counts follow, activities tell why.
#include "cloud/scaling_control.hpp"

#include <gtest/gtest.h>

#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

const char* kResource = "endpoint/e/variant/v";
const Json kTarget{{"ServiceNamespace", "sagemaker"},
                   {"ResourceId", kResource},
                   {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"}};

Json with(Json a, const Json& b) {
  a.update(b);
  return a;
}

struct Scaling : testing::Test, TestWorld {
  void SetUp() override {
    world.settings.quota = 20;
    make_endpoint(1);
    settle();
    call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 9}})).value();
    settle(2);
  }

  std::string put_policy(const char* name, const char* type, const Json& config) {
    const char* key = std::string(type) == "StepScaling" ? "StepScalingPolicyConfiguration"
                                                         : "TargetTrackingScalingPolicyConfiguration";
    return call("PutScalingPolicy",
                with(kTarget, {{"PolicyName", name}, {"PolicyType", type}, {key, config}}))
        .value()["PolicyARN"];
  }

  void publish_out_policy(const Json& more = Json::object()) {
    put_policy(
        "out", "TargetTrackingScaling",
        with({{"TargetValue", 37.5},
              {"ScaleOutCooldown", 30},
              {"DisableScaleIn", true},
              {"PredefinedMetricSpecification",
               {{"PredefinedMetricType", "SageMakerVariantConcurrentRequestsPerModelHighResolution"}}}},
             more));
  }

  void publish_in_policy(const char* missing = "breaching") {
    const auto arn =
        put_policy("in", "StepScaling",
                   {{"AdjustmentType", "ChangeInCapacity"},
                    {"Cooldown", 300},
                    {"StepAdjustments", {{{"MetricIntervalUpperBound", 0.0}, {"ScalingAdjustment", -1}}}}});
    call("PutMetricAlarm", {{"AlarmName", "low"},
                            {"Namespace", "Load"},
                            {"MetricName", "m"},
                            {"Statistic", "Average"},
                            {"Period", 60},
                            {"EvaluationPeriods", 3},
                            {"Threshold", 25},
                            {"ComparisonOperator", "LessThanThreshold"},
                            {"TreatMissingData", missing},
                            {"AlarmActions", {arn}}})
        .value();
  }

  // Every instance in service has so many requests.
  void hold(int each, int for_s) {
    for (int t = 0; t < for_s; ++t) {
      for (const Instance& i : endpoint().instances) {
        if (i.state != InstanceState::kInService) continue;
        int& level = levels[i.id];
        world.metrics.change_level(variant_metric("ConcurrentRequestsPerModel", "e", "v"), i.id,
                                   each - level);
        level = each;
      }
      clock.advance(seconds(1));
      look();
    }
  }

  int desired() { return endpoint().variants[0].desired; }
  const Json& activity(std::size_t back = 0) { return world.activities.at(back); }
  std::string state(const std::string& alarm) { return world.alarms.at(alarm)["StateValue"]; }
  std::string tracking_alarm() { return world.alarms.begin()->first; }

  std::map<std::string, int> levels;
};

TEST_F(Scaling, OutThroughTheAlarmAndTheLogTellsWhy) {
  publish_out_policy();
  hold(50, 60);
  EXPECT_GE(desired(), 2);
  EXPECT_EQ(state(tracking_alarm()), "ALARM");
  const Json& first = world.activities.back();
  EXPECT_EQ(first["Cause"], "monitor alarm " + tracking_alarm() + " in state ALARM triggered policy out");
  EXPECT_EQ(first["Description"], "Setting desired instance count to 2.");
  EXPECT_EQ(first["StatusCode"], "Successful");
  hold(50, 240);
  EXPECT_EQ(desired(), 9);
  const std::string why = world.alarms.at(tracking_alarm())["StateReason"];
  EXPECT_NE(why.find("Threshold Crossed: 3 out of the last 3 datapoints [50 ("), std::string::npos) << why;
  EXPECT_NE(why.find("were greater than the threshold (37.5)"), std::string::npos) << why;
}

TEST_F(Scaling, WithinTheLagBound) {
  publish_out_policy();
  hold(5, 40);
  EXPECT_EQ(desired(), 1);
  int waited = 0;
  while (desired() == 1 && waited < 120) {
    hold(50, 1);
    ++waited;
  }
  EXPECT_LE(waited, 41) << "three periods of 10 s and the period that was half over";
  EXPECT_GT(waited, 25);
}

TEST_F(Scaling, InWhenTheMetricGoesMissing) {
  publish_in_policy();
  ASSERT_EQ(scale(4), "");
  settle();
  hold(0, 250);
  EXPECT_EQ(desired(), 3);
  EXPECT_EQ(activity()["Cause"], "monitor alarm low in state ALARM triggered policy in");
  hold(0, 900);
  EXPECT_EQ(desired(), 1);
  hold(0, 600);
  EXPECT_EQ(desired(), 1) << "never below the minimum";
  const std::string why = world.alarms.at("low")["StateReason"];
  EXPECT_EQ(why,
            "Threshold Crossed: no datapoints were received for 3 periods and 3 missing datapoints were "
            "treated as [Breaching].");
}

TEST_F(Scaling, NotBecauseOfMissingDataWhereTheyAreMissing) {
  publish_in_policy("missing");
  ASSERT_EQ(scale(3), "");
  settle();
  hold(0, 600);
  EXPECT_EQ(desired(), 3);
  EXPECT_EQ(state("low"), "INSUFFICIENT_DATA");
}

TEST_F(Scaling, HeldBySuspendedFlagsPerDirection) {
  publish_out_policy();
  publish_in_policy();
  call("RegisterScalableTarget", with(kTarget, {{"SuspendedState", {{"DynamicScalingOutSuspended", true}}}}))
      .value();
  hold(50, 120);
  EXPECT_EQ(desired(), 1);
  call("RegisterScalableTarget",
       with(kTarget, {{"SuspendedState",
                       {{"DynamicScalingOutSuspended", false}, {"DynamicScalingInSuspended", true}}}}))
      .value();
  hold(50, 60);
  EXPECT_GE(desired(), 2);
  const int before = desired();
  hold(0, 900);
  EXPECT_GE(desired(), before);
}

TEST_F(Scaling, RefusedByTheQuotaIsToldOnce) {
  world.settings.quota = 1;
  publish_out_policy();
  hold(50, 200);
  EXPECT_EQ(desired(), 1);
  ASSERT_EQ(world.activities.size(), 1U);
  EXPECT_EQ(activity()["StatusCode"], "Failed");
  EXPECT_EQ(activity()["StatusMessage"].get<std::string>().rfind(
                "Failed to set desired instance count to 2. Reason: ", 0),
            0U);
}

TEST_F(Scaling, AtTheMaximumIsANotScaledActivity) {
  call("RegisterScalableTarget", with(kTarget, {{"MaxCapacity", 1}})).value();
  publish_out_policy();
  hold(50, 60);
  EXPECT_EQ(desired(), 1);
  ASSERT_EQ(world.activities.size(), 1U);
  EXPECT_EQ(activity()["NotScaledReasons"][0]["Code"], "AlreadyAtMaxCapacity");
  EXPECT_EQ(call("DescribeScalingActivities", {{"ServiceNamespace", "sagemaker"}})
                .value()["ScalingActivities"]
                .size(),
            0U);
  EXPECT_EQ(call("DescribeScalingActivities",
                 {{"ServiceNamespace", "sagemaker"}, {"IncludeNotScaledActivities", true}})
                .value()["ScalingActivities"]
                .size(),
            1U);
}

TEST_F(Scaling, OfBothDirectionsByOneTrackingPolicy) {
  publish_out_policy({{"DisableScaleIn", false}, {"ScaleInCooldown", 60}});
  hold(50, 120);
  const int high = desired();
  EXPECT_GE(high, 3);
  hold(10, 840);
  EXPECT_EQ(desired(), high) << "scale-in takes a quarter of an hour, also with periods of 10 s";
  hold(10, 90);
  EXPECT_LT(desired(), high);
  EXPECT_NE(activity()["Cause"].get<std::string>().find("AlarmLow"), std::string::npos);
}

TEST_F(Scaling, PerformsAnAlarmThatWasSetByHand) {
  publish_in_policy("missing");
  ASSERT_EQ(scale(3), "");
  settle();
  call("SetAlarmState", {{"AlarmName", "low"}, {"StateValue", "ALARM"}, {"StateReason", "trying"}}).value();
  look();
  EXPECT_EQ(desired(), 2);
  const auto history =
      call("DescribeAlarmHistory", {{"AlarmName", "low"}, {"HistoryItemType", "StateUpdate"}}).value();
  EXPECT_EQ(history["AlarmHistoryItems"][0]["HistorySummary"],
            "Alarm updated from INSUFFICIENT_DATA to ALARM");
  EXPECT_NE(refusal("SetAlarmState", {{"AlarmName", "x"}, {"StateValue", "OK"}, {"StateReason", "r"}}), "");
}

TEST_F(Scaling, ByMetricMathOverRequestsOfTheService) {
  const auto arn =
      put_policy("in", "StepScaling",
                 {{"AdjustmentType", "ChangeInCapacity"},
                  {"StepAdjustments", {{{"MetricIntervalUpperBound", 0.0}, {"ScalingAdjustment", -1}}}}});
  const auto metric = [](const char* id, const char* name) {
    return Json{
        {"Id", id},
        {"ReturnData", false},
        {"MetricStat",
         {{"Metric",
           {{"Namespace", "AWS/SageMaker"},
            {"MetricName", name},
            {"Dimensions",
             {{{"Name", "EndpointName"}, {"Value", "e"}}, {{"Name", "VariantName"}, {"Value", "v"}}}}}},
          {"Period", 60},
          {"Stat", "Sum"}}}};
  };
  ASSERT_EQ(scale(3), "");
  settle();
  // 20 requests a second on three: two could not carry them.
  const auto serve = [&](int rate, int for_s) {
    for (int t = 0; t < for_s; ++t) {
      for (int r = 0; r < rate; ++r) {
        world.metrics.record(variant_metric("Invocations", "e", "v"), 1);
        world.metrics.record(variant_metric("InvocationsPerInstance", "e", "v"), 1.0 / serving());
      }
      clock.advance(seconds(1));
      look();
    }
  };
  serve(20, 240);
  call("PutMetricAlarm", {{"AlarmName", "spare"},
                          {"Metrics",
                           {metric("i", "Invocations"),
                            metric("p", "InvocationsPerInstance"),
                            {{"Id", "e"}, {"Expression", "IF(p > 0, i / 60 - 7 * (i / p - 1), -1)"}}}},
                          {"EvaluationPeriods", 3},
                          {"Threshold", 0},
                          {"ComparisonOperator", "LessThanThreshold"},
                          {"TreatMissingData", "breaching"},
                          {"AlarmActions", {arn}}})
      .value();
  serve(20, 400);
  EXPECT_EQ(desired(), 3);
  serve(10, 300);
  EXPECT_EQ(desired(), 2);
}

TEST_F(Scaling, ByATrackingPolicyOnMetricMath) {
  const auto metric = [](const char* id, const char* name) {
    return Json{
        {"Id", id},
        {"ReturnData", false},
        {"MetricStat", {{"Metric", {{"Namespace", "Load"}, {"MetricName", name}}}, {"Stat", "Average"}}}};
  };
  const auto config = [&](const char* expression) {
    return Json{
        {"TargetValue", 10.0},
        {"CustomizedMetricSpecification",
         {{"Metrics", {metric("a", "a"), metric("b", "b"), {{"Id", "e"}, {"Expression", expression}}}}}}};
  };
  const auto put = [&](const char* expression) {
    return refusal("PutScalingPolicy",
                   with(kTarget, {{"PolicyName", "math"},
                                  {"PolicyType", "TargetTrackingScaling"},
                                  {"TargetTrackingScalingPolicyConfiguration", config(expression)}}));
  };
  EXPECT_NE(put("a + nothing").find("'nothing'"), std::string::npos);
  EXPECT_EQ(put("a + b"), "");
  for (int t = 0; t < 300; ++t) {
    world.metrics.put(make_key("Load", "a", {}), one_reading(20), clock.wall(), "");
    world.metrics.put(make_key("Load", "b", {}), one_reading(15), clock.wall(), "");
    clock.advance(seconds(1));
    look();
  }
  EXPECT_EQ(desired(), 4) << "35 / 10 on one instance, rounded up";
}

TEST_F(Scaling, LeavesOrphansWhenTheEndpointGoes) {
  publish_out_policy();
  publish_in_policy();
  call("DeleteEndpoint", {{"EndpointName", "e"}}).value();
  settle(20);
  EXPECT_EQ(status(), "gone");
  for (int t = 0; t < 300; ++t) {
    clock.advance(seconds(1));
    look();
  }
  EXPECT_EQ(world.targets.size(), 1U);
  EXPECT_EQ(world.policies.size(), 2U);
  EXPECT_EQ(world.alarms.size(), 2U);
  EXPECT_EQ(state("low"), "ALARM") << "the alarm goes on, and moves nothing";
}

TEST_F(Scaling, RemembersAcrossARestart) {
  publish_out_policy();
  hold(50, 60);
  const Json saved = save_world(world);
  World again(clock);
  ASSERT_TRUE(load_world(saved, again));
  EXPECT_EQ(again.scaling.memory.at(kResource).out_at_s, world.scaling.memory.at(kResource).out_at_s);
  EXPECT_EQ(again.scaling.history.size(), world.scaling.history.size());
  EXPECT_EQ(again.activities, world.activities);
  EXPECT_EQ(again.policies, world.policies);
}

}  // namespace
}  // namespace headroom::cloud
