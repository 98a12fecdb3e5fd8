// Operations on the world: what they refuse and what they keep.
#include "cloud/operations.hpp"

#include <gtest/gtest.h>

#include "cloud/scaling.hpp"
#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

const Json kTarget{{"ServiceNamespace", "sagemaker"},
                   {"ResourceId", "endpoint/e/variant/v"},
                   {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"}};

Json with(Json base, const Json& more) {
  base.update(more);
  return base;
}

TEST(CreateModel, NamesAForbiddenEnvironmentVariable) {
  TestWorld t;
  for (const char* name :
       {"LD_PRELOAD", "PATH", "tts_engine", "TTS_", "TTS_X=Y", "TTS_X Y", "MAX_QUEUE_DEPTH2", ""}) {
    const std::string refusal = t.refusal(
        "CreateModel",
        {{"ModelName", "m"}, {"PrimaryContainer", {{"Image", "i"}, {"Environment", {{name, "1"}}}}}});
    EXPECT_NE(refusal.find(std::string("'") + name + "'"), std::string::npos) << name << ": " << refusal;
  }
  EXPECT_TRUE(t.world.models.empty());
  EXPECT_EQ(t.refusal("CreateModel", {{"ModelName", "m"},
                                      {"PrimaryContainer", {{"Environment", {{"MAX_QUEUE_DEPTH", "50"}}}}}}),
            "");
}

TEST(CreateModel, RefusesASecondOfTheSameName) {
  TestWorld t;
  const Json in{{"ModelName", "m"}, {"PrimaryContainer", {{"Image", "i"}}}};
  EXPECT_EQ(t.refusal("CreateModel", in), "");
  EXPECT_NE(t.refusal("CreateModel", in).find("already existing"), std::string::npos);
}

TEST(CreateEndpoint, StopsAtTheQuotaWithAwssSentence) {
  TestWorld t;
  t.make_endpoint(3);
  const auto second = t.call("CreateEndpoint", {{"EndpointName", "f"}, {"EndpointConfigName", "c"}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::ErrorCode::kResourceExhausted);
  EXPECT_NE(second.error().message.find(
                "'ml.g5.xlarge for endpoint usage' is 4 Instances, with current utilization of 3"),
            std::string::npos);
  t.settle();
  EXPECT_NE(t.scale(5).find("request delta of 2"), std::string::npos);
  EXPECT_EQ(t.endpoint().variants[0].desired, 3);
}

TEST(DescribeEndpoint, NamesADigestOfProgramAndManifest) {
  TestWorld t;
  t.world.settings.image_digest = std::string(64, 'a');
  t.world.settings.manifest_digest = [](const std::string& folder) {
    return folder == "/models/m" ? "b" : "";
  };
  const auto resolved = [&](const Json& container) {
    TestWorld u;
    u.world.settings = t.world.settings;
    u.call("CreateModel", {{"ModelName", "m"}, {"PrimaryContainer", container}}).value();
    u.make_endpoint();  // keeps the model that is there
    const Json shown = u.call("DescribeEndpoint", {{"EndpointName", "e"}}).value();
    return shown["ProductionVariants"][0]["DeployedImages"][0]["ResolvedImage"].get<std::string>();
  };
  EXPECT_EQ(resolved({{"Image", "repo/i:1"}}), "repo/i:1@sha256:" + std::string(64, 'a'));
  EXPECT_NE(resolved({{"Image", "i"}, {"ModelDataUrl", "file:///models/m"}}), resolved({{"Image", "i"}}));
  EXPECT_EQ(resolved({{"Image", "i"}, {"ModelDataUrl", "file:///other"}}), resolved({{"Image", "i"}}));
}

TEST(UpdateCapacities, RefusesUnknownVariantsAndCountsBelowOne) {
  TestWorld t;
  t.make_endpoint();
  t.settle();
  EXPECT_NE(t.scale(0), "");
  EXPECT_NE(
      t.refusal("UpdateEndpointWeightsAndCapacities",
                {{"EndpointName", "e"},
                 {"DesiredWeightsAndCapacities", {{{"VariantName", "x"}, {"DesiredInstanceCount", 1}}}}}),
      "");
  EXPECT_EQ(t.status(), "InService");
}

TEST(Tags, KeepTheFreezeTagAndRefuseOtherCharacters) {
  TestWorld t;
  t.make_endpoint();
  const std::string arn = t.world.arn("sagemaker", "endpoint/e");
  const Json tag{{"Key", "headroom:freeze"}, {"Value", "v1 run=0abc desired=3 flags=000 t=1800000000"}};
  EXPECT_EQ(t.refusal("AddTags", {{"ResourceArn", arn}, {"Tags", {tag}}}), "");
  EXPECT_EQ(t.call("ListTags", {{"ResourceArn", arn}})->at("Tags"), Json::array({tag}));
  EXPECT_NE(t.refusal("AddTags", {{"ResourceArn", arn}, {"Tags", {{{"Key", "k"}, {"Value", "{}"}}}}}), "");
  EXPECT_EQ(t.refusal("DeleteTags", {{"ResourceArn", arn}, {"TagKeys", {"headroom:freeze"}}}), "");
  EXPECT_TRUE(t.call("ListTags", {{"ResourceArn", arn}})->at("Tags").empty());
  EXPECT_NE(t.refusal("ListTags", {{"ResourceArn", arn + "x"}}), "");
}

TEST(ScalableTarget, KeepsWhatIsNotGivenAgain) {
  TestWorld t;
  t.make_endpoint();
  EXPECT_NE(t.refusal("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}})), "");
  t.call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 3}})).value();
  t.call("RegisterScalableTarget", with(kTarget, {{"SuspendedState", {{"DynamicScalingInSuspended", true}}}}))
      .value();
  t.call("RegisterScalableTarget", with(kTarget, {{"SuspendedState", {{"ScheduledScalingSuspended", true}}}}))
      .value();
  const Json target =
      t.call("DescribeScalableTargets", {{"ServiceNamespace", "sagemaker"}})->at("ScalableTargets")[0];
  EXPECT_EQ(target["MaxCapacity"], 3);
  EXPECT_EQ(target["SuspendedState"]["DynamicScalingInSuspended"], true);
  EXPECT_EQ(target["SuspendedState"]["ScheduledScalingSuspended"], true);
  EXPECT_NE(t.refusal("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 4}})), "");
}

TEST(TargetTracking, MakesItsAlarmsAndTakesThemAway) {
  TestWorld t;
  t.make_endpoint();
  t.call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 3}})).value();
  const Json predefined{{"PredefinedMetricType", "SageMakerVariantConcurrentRequestsPerModelHighResolution"}};
  Json policy = with(kTarget, {{"PolicyName", "p"},
                               {"PolicyType", "TargetTrackingScaling"},
                               {"TargetTrackingScalingPolicyConfiguration",
                                {{"TargetValue", 37.5}, {"PredefinedMetricSpecification", predefined}}}});
  EXPECT_EQ(t.call("PutScalingPolicy", policy)->at("Alarms").size(), 2U);
  for (const auto& [name, alarm] : t.world.alarms) {
    const bool low = name.find("AlarmLow") != std::string::npos;
    EXPECT_EQ(alarm.at("EvaluationPeriods"), low ? 90 : 3) << name;  // a quarter of an hour of 10 s, 30 s
    EXPECT_EQ(alarm.at("Threshold"), low ? 33.75 : 37.5) << name;
  }
  policy["TargetTrackingScalingPolicyConfiguration"]["DisableScaleIn"] = true;
  const Json put = t.call("PutScalingPolicy", policy).value();
  ASSERT_EQ(put["Alarms"].size(), 1U);
  const Json alarm = t.world.alarms.at(put["Alarms"][0]["AlarmName"].get<std::string>());
  EXPECT_EQ(alarm["Threshold"], 37.5);
  EXPECT_EQ(alarm["Period"], 10);
  EXPECT_EQ(alarm["MetricName"], "ConcurrentRequestsPerModel");
  EXPECT_EQ(t.call("DescribeScalingPolicies", {{"ServiceNamespace", "sagemaker"}})
                ->at("ScalingPolicies")[0]["Alarms"],
            put["Alarms"]);
  t.call("DeleteScalingPolicy", with(kTarget, {{"PolicyName", "p"}})).value();
  EXPECT_TRUE(t.world.alarms.empty());
}

TEST(TargetTracking, WaitsAQuarterOfAnHourOfTheCustomMetricsOwnPeriod) {
  const auto low_periods = [](const Json& stat) {
    TestWorld t;
    t.make_endpoint();
    t.call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 3}})).value();
    const Json custom{{"Metrics", Json::array({{{"Id", "m"}, {"MetricStat", stat}}})}};
    const Json policy = with(kTarget, {{"PolicyName", "p"},
                                       {"PolicyType", "TargetTrackingScaling"},
                                       {"TargetTrackingScalingPolicyConfiguration",
                                        {{"TargetValue", 10.0}, {"CustomizedMetricSpecification", custom}}}});
    t.call("PutScalingPolicy", policy).value();
    for (const auto& [name, alarm] : t.world.alarms)
      if (name.find("AlarmLow") != std::string::npos) return alarm.at("EvaluationPeriods").get<int>();
    return 0;
  };
  Json stat{{"Metric", {{"Namespace", "N"}, {"MetricName", "m"}}}, {"Stat", "Average"}};
  EXPECT_EQ(low_periods(stat), 15);
  stat["Period"] = 10;
  EXPECT_EQ(low_periods(stat), 90);
}

TEST(StepScaling, ShowsTheAlarmsThatNameIt) {
  TestWorld t;
  t.make_endpoint();
  t.call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 3}})).value();
  const Json policy =
      with(kTarget, {{"PolicyName", "s"},
                     {"PolicyType", "StepScaling"},
                     {"StepScalingPolicyConfiguration",
                      {{"AdjustmentType", "ChangeInCapacity"},
                       {"StepAdjustments", {{{"MetricIntervalUpperBound", 0.0}, {"ScalingAdjustment", -1}}}},
                       {"Cooldown", 960}}}});
  const std::string arn = t.call("PutScalingPolicy", policy)->at("PolicyARN");
  const Json alarm{{"AlarmName", "in"},
                   {"Namespace", "AWS/SageMaker"},
                   {"MetricName", "ConcurrentRequestsPerModel"},
                   {"Statistic", "Average"},
                   {"Period", 60},
                   {"EvaluationPeriods", 3},
                   {"Threshold", 25},
                   {"ComparisonOperator", "LessThanThreshold"},
                   {"AlarmActions", {arn}}};
  EXPECT_EQ(t.refusal("PutMetricAlarm", alarm), "");
  const Json shown =
      t.call("DescribeScalingPolicies", {{"ServiceNamespace", "sagemaker"}})->at("ScalingPolicies")[0];
  EXPECT_EQ(shown["Alarms"][0]["AlarmName"], "in");
  t.call("DeregisterScalableTarget", kTarget).value();
  EXPECT_TRUE(t.world.policies.empty());
  EXPECT_EQ(t.world.alarms.size(), 1U);  // not ours to delete
}

TEST(Alarms, RefuseHalfDefinitionsAndKeepTheirState) {
  TestWorld t;
  Json alarm{{"AlarmName", "a"},
             {"Namespace", "n"},
             {"MetricName", "m"},
             {"Period", 10},
             {"EvaluationPeriods", 3},
             {"Threshold", 1},
             {"ComparisonOperator", "GreaterThanThreshold"}};
  EXPECT_NE(t.refusal("PutMetricAlarm", alarm), "");  // no statistic
  alarm["Statistic"] = "Maximum";
  EXPECT_EQ(t.refusal("PutMetricAlarm", alarm), "");
  t.world.alarms["a"]["StateValue"] = "ALARM";
  EXPECT_EQ(t.refusal("PutMetricAlarm", alarm), "");
  EXPECT_EQ(t.call("DescribeAlarms", {{"AlarmNames", {"a"}}})->at("MetricAlarms")[0]["StateValue"], "ALARM");
  EXPECT_NE(t.refusal("DeleteAlarms", {{"AlarmNames", {"a", "b"}}}), "");
  EXPECT_EQ(t.world.alarms.size(), 1U);
}

TEST(MetricData, ComesNewestFirstUnlessAsked) {
  TestWorld t;
  const auto now = epoch_seconds(t.clock.wall());
  Json put{{"Namespace", "N"}, {"MetricData", Json::array()}};
  for (int i = 0; i < 3; ++i)
    put["MetricData"].push_back({{"MetricName", "m"}, {"Value", i}, {"Timestamp", now - 60 * i}});
  EXPECT_EQ(t.refusal("PutMetricData", put), "");
  Json get{{"StartTime", now - 600},
           {"EndTime", now + 60},
           {"MetricDataQueries",
            {{{"Id", "a"},
              {"MetricStat",
               {{"Metric", {{"Namespace", "N"}, {"MetricName", "m"}}}, {"Period", 60}, {"Stat", "Sum"}}}}}}};
  EXPECT_EQ(t.call("GetMetricData", get)->at("MetricDataResults")[0]["Values"], (Json{0.0, 1.0, 2.0}));
  get["ScanBy"] = "TimestampAscending";
  EXPECT_EQ(t.call("GetMetricData", get)->at("MetricDataResults")[0]["Values"], (Json{2.0, 1.0, 0.0}));
  get["MetricDataQueries"][0]["MetricStat"]["Period"] = 7;
  EXPECT_NE(t.refusal("GetMetricData", get), "");
}

TEST(MetricData, BearsATimeOfTheLastTwoWeeksOrTheNextTwoHours) {
  TestWorld t;
  const double now = epoch_seconds(t.clock.wall());
  const auto put = [&](double at) {
    return t.call(
        "PutMetricData",
        {{"Namespace", "N"},
         {"MetricData",
          {{{"MetricName", "m"}, {"Value", 1}}, {{"MetricName", "m"}, {"Value", 1}, {"Timestamp", at}}}}});
  };
  for (const double at : {now - 14 * 86400, now - 3600, now + 7200}) EXPECT_TRUE(put(at)) << at - now;
  t.world.metrics.restart_journal();
  t.world.metrics.take_journal();
  const auto late = put(now + 7201), early = put(now - 14 * 86400 - 1);
  ASSERT_FALSE(late);
  ASSERT_FALSE(early);
  EXPECT_EQ(late.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(late.error().message,
            "The parameter MetricData.member.2.Timestamp must specify a time no more than two hours in the "
            "future.");
  EXPECT_EQ(early.error().message,
            "The parameter MetricData.member.2.Timestamp must specify a time within the past two weeks.");
  EXPECT_EQ(t.world.metrics.take_journal(), "");  // nothing of a refused call is kept
}

TEST(Logs, ReadForwardUntilTheTokenStays) {
  TestWorld t;
  for (int i = 0; i < 5; ++i) t.world.logs.append("g", "s", 1000 + i, "line " + std::to_string(i));
  Json in{{"logGroupName", "g"}, {"logStreamName", "s"}, {"startFromHead", true}, {"limit", 3}};
  Json out = t.call("GetLogEvents", in).value();
  EXPECT_EQ(out["events"][0]["message"], "line 0");
  in["nextToken"] = out["nextForwardToken"];
  out = t.call("GetLogEvents", in).value();
  EXPECT_EQ(out["events"].size(), 2U);
  in["nextToken"] = out["nextForwardToken"];
  out = t.call("GetLogEvents", in).value();
  EXPECT_TRUE(out["events"].empty());
  EXPECT_EQ(out["nextForwardToken"], in["nextToken"]);
  EXPECT_NE(t.refusal("GetLogEvents", {{"logGroupName", "x"}, {"logStreamName", "s"}}), "");
}

TEST(Logs, FilterByTermsAndTime) {
  TestWorld t;
  t.world.logs.append("g", "a", 1, "=== STAGE ready t=1 ===");
  t.world.logs.append("g", "b", 2, "other");
  const auto find = [&](const Json& more) {
    return t.call("FilterLogEvents", with({{"logGroupName", "g"}}, more))->at("events").size();
  };
  EXPECT_EQ(find({{"filterPattern", "\"STAGE ready\""}}), 1U);
  EXPECT_EQ(find({{"filterPattern", "STAGE nope"}}), 0U);
  EXPECT_EQ(find({{"startTime", 2}}), 1U);
  EXPECT_EQ(find({{"logStreamNames", {"a"}}}), 1U);
  EXPECT_NE(t.refusal("FilterLogEvents", {{"logGroupName", "g"}, {"filterPattern", "{ $.x = 1 }"}}), "");
}

TEST(Quotas, AreFoundByCodeAndByName) {
  TestWorld t;
  const Json listed = t.call("ListServiceQuotas", {{"ServiceCode", "sagemaker"}})->at("Quotas");
  const auto row = std::find_if(listed.begin(), listed.end(), [](const Json& q) {
    return q["QuotaName"] == "ml.g5.xlarge for endpoint usage";
  });
  ASSERT_NE(row, listed.end());
  EXPECT_EQ(t.call("GetServiceQuota", {{"ServiceCode", "sagemaker"}, {"QuotaCode", (*row)["QuotaCode"]}})
                ->at("Quota")["Value"],
            4.0);
}

TEST(ResourceId, IsTakenApartOnlyInItsForm) {
  EXPECT_EQ(parse_resource_id("endpoint/e/variant/v")->variant, "v");
  for (const char* text : {"endpoint/e", "endpoint/../variant/v", "endpoint/e/variant/", "x/e/variant/v",
                           "endpoint/e/variant/v/w"})
    EXPECT_FALSE(parse_resource_id(text)) << text;
}

TEST(State, ComesBackWithoutInstancesAndNamesTheirProcesses) {
  TestWorld t;
  t.make_endpoint(2);
  t.settle();
  t.call("AddTags", {{"ResourceArn", t.world.arn("sagemaker", "endpoint/e")},
                     {"Tags", {{{"Key", "k"}, {"Value", "v"}}}}})
      .value();
  t.call("RegisterScalableTarget", with(kTarget, {{"MinCapacity", 1}, {"MaxCapacity", 3}})).value();
  TestWorld u;
  const auto orphans = load_world(save_world(t.world), u.world);
  ASSERT_TRUE(orphans);
  EXPECT_EQ(orphans->size(), 2U);
  EXPECT_EQ(u.status(), "Updating");
  EXPECT_EQ(u.endpoint().variants[0].desired, 2);
  u.settle();
  EXPECT_EQ(u.status(), "InService");
  Json before = save_world(t.world), after = save_world(u.world);
  for (Json* saved : {&before, &after}) {
    (*saved)["endpoints"][0].erase("instances");
    (*saved)["endpoints"][0].erase("modified");
  }
  EXPECT_EQ(before, after);
  EXPECT_FALSE(load_world({{"schema", "x"}}, u.world));
}

}  // namespace
}  // namespace headroom::cloud
