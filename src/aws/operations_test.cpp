// Tests of the typed operations against a Transport that records requests and answers from a script.
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "aws/autoscaling.hpp"
#include "aws/cloudwatch.hpp"
#include "aws/logs.hpp"
#include "aws/quotas.hpp"
#include "aws/sagemaker.hpp"
#include "aws/sts.hpp"

namespace headroom::aws {
namespace {

using nlohmann::json;
using testing::ElementsAre;

class FakeTransport final : public Transport {
 public:
  base::Result<std::string> send(const ApiRequest& request) override {
    requests.push_back(request);
    if (answers.empty()) return std::string("{}");
    auto next = answers.front();
    answers.pop_front();
    return next;
  }
  json body(std::size_t i) const { return json::parse(requests.at(i).body); }

  std::vector<ApiRequest> requests;
  std::deque<base::Result<std::string>> answers;
};

struct OperationsTest : testing::Test {
  FakeTransport transport;
  base::Deadline deadline{};
};
using SageMakerTest = OperationsTest;
using AutoScalingTest = OperationsTest;
using CloudWatchTest = OperationsTest;
using LogsTest = OperationsTest;
using QuotasTest = OperationsTest;
using StsTest = OperationsTest;

base::WallTime at(double seconds) {
  return base::WallTime{
      std::chrono::duration_cast<base::WallTime::duration>(std::chrono::duration<double>(seconds))};
}

TEST_F(SageMakerTest, ReadsAnEndpoint) {
  transport.answers = {
      R"({"EndpointName":"speech","EndpointArn":"arn:e","EndpointConfigName":"c","EndpointStatus":"InService",
    "CreationTime":1800000000.5,"LastModifiedTime":1800000010,"ProductionVariants":[{"VariantName":"AllTraffic",
    "CurrentInstanceCount":1,"DesiredInstanceCount":3,"CurrentWeight":1.0,"VariantStatus":[{"Status":"Updating"}],
    "DeployedImages":[{"SpecifiedImage":"i:1","ResolvedImage":"i@sha256:ab"}]}]})"};
  const auto endpoint = SageMaker(transport).describe_endpoint("speech", deadline);
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(transport.body(0), json({{"EndpointName", "speech"}}));
  EXPECT_EQ(transport.requests[0].operation, "DescribeEndpoint");
  EXPECT_EQ(endpoint->status, "InService");
  EXPECT_EQ(endpoint->created, at(1800000000.5));
  const VariantSummary* variant = endpoint->variant("AllTraffic");
  ASSERT_NE(variant, nullptr);
  EXPECT_EQ(variant->current_instance_count, 1);
  EXPECT_EQ(variant->desired_instance_count, 3);
  EXPECT_EQ(variant->desired_weight, std::nullopt);
  EXPECT_THAT(variant->status, ElementsAre("Updating"));
  EXPECT_THAT(variant->resolved_images, ElementsAre("i@sha256:ab"));
  EXPECT_EQ(endpoint->variant("Other"), nullptr);
}

TEST_F(SageMakerTest, AsksForADesiredCount) {
  ASSERT_TRUE(SageMaker(transport).set_desired_instance_count("speech", "AllTraffic", 2, deadline));
  EXPECT_EQ(transport.body(0), json::parse(R"({"EndpointName":"speech","DesiredWeightsAndCapacities":
    [{"VariantName":"AllTraffic","DesiredInstanceCount":2}]})"));
}

TEST_F(SageMakerTest, ReadsTagsToTheLastPage) {
  transport.answers = {R"({"Tags":[{"Key":"a","Value":"1"}],"NextToken":"t"})",
                       R"({"Tags":[{"Key":"b","Value":""}]})"};
  const auto tags = SageMaker(transport).list_tags("arn:e", deadline);
  ASSERT_TRUE(tags);
  EXPECT_THAT(*tags, ElementsAre(Tag{"a", "1"}, Tag{"b", ""}));
  EXPECT_EQ(transport.body(0), json({{"ResourceArn", "arn:e"}}));
  EXPECT_EQ(transport.body(1)["NextToken"], "t");
}

TEST_F(SageMakerTest, ListsEndpointsToTheLastPage) {
  transport.answers = {R"({"Endpoints":[{"EndpointName":"a"},{"EndpointName":"b"}],"NextToken":"t"})",
                       R"({"Endpoints":[{"EndpointName":"c"}]})"};
  const auto names = SageMaker(transport).list_endpoints(deadline);
  ASSERT_TRUE(names);
  EXPECT_THAT(*names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(transport.body(1)["NextToken"], "t");
}

TEST_F(SageMakerTest, CreatesWhatItDescribes) {
  Model model;
  model.name = "m";
  model.image = "img";
  model.environment = {{"TTS_ENGINE", "paced"}};
  ASSERT_TRUE(SageMaker(transport).create_model(model, deadline));
  EXPECT_EQ(transport.body(0), json::parse(R"({"ModelName":"m","PrimaryContainer":{"Image":"img",
    "Environment":{"TTS_ENGINE":"paced"}}})"));
  EXPECT_FALSE(transport.requests[0].repeatable);
  VariantConfig variant;
  variant.name = "AllTraffic";
  variant.model_name = "m";
  variant.instance_type = "ml.g5.xlarge";
  variant.initial_instance_count = 1;
  variant.health_check_timeout_s = 600;
  variant.routing_strategy = "LEAST_OUTSTANDING_REQUESTS";
  ASSERT_TRUE(SageMaker(transport).create_endpoint_config({"c", "", {variant}}, deadline));
  EXPECT_EQ(transport.body(1),
            json::parse(R"({"EndpointConfigName":"c","ProductionVariants":[{"VariantName":"AllTraffic",
    "ModelName":"m","InstanceType":"ml.g5.xlarge","InitialInstanceCount":1,"ContainerStartupHealthCheckTimeoutInSeconds":600,
    "RoutingConfig":{"RoutingStrategy":"LEAST_OUTSTANDING_REQUESTS"}}]})"));
}

TEST_F(AutoScalingTest, SuspendsWithoutTouchingTheCapacities) {
  TargetChange change;
  change.resource_id = variant_resource_id("speech", "AllTraffic");
  change.suspended = SuspendedState{true, true, true};
  ASSERT_TRUE(AutoScaling(transport).register_target(change, deadline));
  EXPECT_EQ(transport.body(0),
            json::parse(R"({"ServiceNamespace":"sagemaker","ResourceId":"endpoint/speech/variant/AllTraffic",
    "ScalableDimension":"sagemaker:variant:DesiredInstanceCount","SuspendedState":{"DynamicScalingInSuspended":true,
    "DynamicScalingOutSuspended":true,"ScheduledScalingSuspended":true}})"));
}

TEST_F(AutoScalingTest, ReadsTargetsAndAsksForAllWithoutIds) {
  transport.answers = {
      R"({"ScalableTargets":[{"ResourceId":"r","ScalableDimension":"d","MinCapacity":1,"MaxCapacity":9,
    "SuspendedState":{"DynamicScalingInSuspended":true,"DynamicScalingOutSuspended":false}}]})"};
  const auto targets = AutoScaling(transport).describe_targets({}, deadline);
  ASSERT_TRUE(targets);
  EXPECT_FALSE(transport.body(0).contains("ResourceIds"));
  ASSERT_EQ(targets->size(), 1u);
  EXPECT_EQ(targets->front().max_capacity, 9);
  EXPECT_EQ(targets->front().suspended, (SuspendedState{true, false, false}));
}

TEST_F(AutoScalingTest, PolicySurvivesPutAndDescribe) {
  ScalingPolicy policy;
  policy.name = "out";
  policy.resource_id = "r";
  policy.type = "TargetTrackingScaling";
  policy.target_tracking = TargetTracking{
      37.5, "SageMakerVariantConcurrentRequestsPerModelHighResolution", "", std::nullopt, 30, 960, true};
  ASSERT_TRUE(AutoScaling(transport).put_policy(policy, deadline));
  json sent = transport.body(0);
  sent["PolicyARN"] = "arn:p";
  sent["Alarms"] = json::parse(R"([{"AlarmName":"a","AlarmARN":"arn:a"}])");
  transport.answers = {json({{"ScalingPolicies", json::array({sent})}}).dump()};
  const auto back = AutoScaling(transport).describe_policies("r", deadline);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(back->front().target_tracking, policy.target_tracking);
  EXPECT_EQ(back->front().alarms.at(0).arn, "arn:a");
}

TEST_F(AutoScalingTest, StepPolicySurvivesPutAndDescribe) {
  ScalingPolicy policy;
  policy.name = "in";
  policy.resource_id = "r";
  policy.type = "StepScaling";
  policy.step_scaling = StepScaling{
      "ChangeInCapacity", {{std::nullopt, -10.0, -2}, {-10.0, 0.0, -1}}, 960, std::nullopt, "Average"};
  ASSERT_TRUE(AutoScaling(transport).put_policy(policy, deadline));
  transport.answers = {json({{"ScalingPolicies", json::array({transport.body(0)})}}).dump()};
  const auto back = AutoScaling(transport).describe_policies("r", deadline);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->front().step_scaling, policy.step_scaling);
  EXPECT_EQ(back->front().target_tracking, std::nullopt);
}

TEST_F(CloudWatchTest, JoinsPagesOfMetricDataInOrder) {
  transport.answers = {
      R"({"MetricDataResults":[{"Id":"m1","Label":"l","StatusCode":"PartialData","Timestamps":[1800000020,1800000010],
        "Values":[2.0,1.0]}],"NextToken":"n"})",
      R"({"MetricDataResults":[{"Id":"m1","StatusCode":"Complete","Timestamps":[1800000000.0],"Values":[0.5]}]})"};
  const Metric metric{"AWS/SageMaker", "ConcurrentRequestsPerModel", {{"EndpointName", "speech"}}};
  const auto points =
      CloudWatch(transport).series(metric, "Maximum", 10, at(1800000000), at(1800000060), deadline);
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 3u);
  EXPECT_EQ((*points)[0].at, at(1800000000));
  EXPECT_EQ((*points)[0].value, 0.5);
  EXPECT_EQ((*points)[2].value, 2.0);
  const json body = transport.body(0);
  EXPECT_EQ(body["StartTime"], 1800000000.0);
  EXPECT_EQ(body["MetricDataQueries"][0]["MetricStat"]["Period"], 10);
  EXPECT_EQ(body["MetricDataQueries"][0]["MetricStat"]["Metric"]["Dimensions"][0]["Name"], "EndpointName");
  EXPECT_EQ(transport.requests[0].service, Service::kCloudWatch);
}

TEST_F(CloudWatchTest, MissingStatisticIsUnknownAndNeverZero) {
  transport.answers = {
      R"({"Datapoints":[{"Timestamp":1800000000,"Maximum":4.0,"ExtendedStatistics":{"p95":3.5}}]})"};
  const auto points = CloudWatch(transport).get_metric_statistics({"AWS/SageMaker", "M", {}}, 60, {"Maximum"},
                                                                  {"p95"}, at(0), at(60), deadline);
  ASSERT_TRUE(points);
  EXPECT_EQ(points->at(0).maximum, 4.0);
  EXPECT_EQ(points->at(0).average, std::nullopt);
  EXPECT_EQ(points->at(0).extended.at("p95"), 3.5);
}

TEST_F(CloudWatchTest, MathAlarmSurvivesPutAndDescribe) {
  Alarm alarm;
  alarm.name = "scale-in";
  MetricQuery load;
  load.id = "m1";
  load.metric = Metric{"AWS/SageMaker", "Invocations", {{"EndpointName", "speech"}}};
  load.statistic = "Sum";
  load.period_s = 60;
  load.return_data = false;
  MetricQuery line;
  line.id = "e1";
  line.expression = "m1/60";
  line.label = "rate";
  line.return_data = true;
  alarm.queries = {load, line};
  alarm.evaluation_periods = 3;
  alarm.datapoints_to_alarm = 3;
  alarm.threshold = 12.5;
  alarm.comparison = "LessThanThreshold";
  alarm.missing_data = "breaching";
  alarm.alarm_actions = {"arn:p"};
  ASSERT_TRUE(CloudWatch(transport).put_alarm(alarm, deadline));
  json sent = transport.body(0);
  sent["StateValue"] = "OK";
  transport.answers = {json({{"MetricAlarms", json::array({sent})}}).dump()};
  const auto back = CloudWatch(transport).describe_alarms({"scale-in"}, deadline);
  ASSERT_TRUE(back);
  EXPECT_EQ(transport.body(1)["AlarmNames"], json::array({"scale-in"}));
  const Alarm& read = back->at(0);
  EXPECT_EQ(read.queries, alarm.queries);
  EXPECT_EQ(read.threshold, 12.5);
  EXPECT_EQ(read.missing_data, "breaching");
  EXPECT_EQ(read.metric, std::nullopt);
  EXPECT_EQ(read.alarm_actions, alarm.alarm_actions);
  EXPECT_EQ(read.state, "OK");
}

TEST_F(LogsTest, ReadsEventsUntilTheTokenRepeats) {
  transport.answers = {
      R"({"events":[{"timestamp":1800000000123,"message":"a","ingestionTime":1800000000200}],"nextForwardToken":"f/1"})",
      R"({"events":[{"timestamp":1800000000124,"message":"b"}],"nextForwardToken":"f/2"})",
      R"({"events":[],"nextForwardToken":"f/2"})"};
  const auto events = Logs(transport).get_events("g", "s", at(1800000000), deadline);
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ((*events)[0].at, base::WallTime{std::chrono::milliseconds{1800000000123}});
  EXPECT_EQ((*events)[1].message, "b");
  EXPECT_EQ(transport.body(0)["startTime"], 1800000000000);
  EXPECT_EQ(transport.body(2)["nextToken"], "f/2");
}

TEST_F(LogsTest, AMissingGroupHasNoStreams) {
  transport.answers = {base::fail(base::ErrorCode::kNotFound, "no group")};
  const auto streams = Logs(transport).describe_streams("g", "", deadline);
  ASSERT_TRUE(streams);
  EXPECT_TRUE(streams->empty());
}

TEST_F(QuotasTest, FindsTheInstanceTypeByName) {
  transport.answers = {
      R"({"Quotas":[{"QuotaCode":"L-1","QuotaName":"ml.g5.xlarge for training job usage","Value":1}],
    "NextToken":"n"})",
      R"({"Quotas":[{"QuotaCode":"L-2","QuotaName":"ml.g5.xlarge for endpoint usage","Value":4.0}]})"};
  const auto quota = Quotas(transport).endpoint_instances("ml.g5.xlarge", deadline);
  ASSERT_TRUE(quota);
  ASSERT_TRUE(*quota);
  EXPECT_EQ((*quota)->code, "L-2");
  EXPECT_EQ((*quota)->value, 4.0);
}

TEST_F(StsTest, ReadsTheCallerFromXml) {
  transport.answers = {std::string(
      "<GetCallerIdentityResponse xmlns=\"x\"><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/a&amp;b</Arn>"
      "<UserId>U</UserId><Account>000000000001</Account></GetCallerIdentityResult></"
      "GetCallerIdentityResponse>")};
  const auto caller = get_caller_identity(transport, deadline);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->account, "000000000001");
  EXPECT_EQ(caller->arn, "arn:aws:iam::1:user/a&b");
}

TEST_F(SageMakerTest, RefusesAnAnswerThatIsNoJson) {
  transport.answers = {std::string("<html>"), std::string("[1]")};
  for (int i = 0; i < 2; ++i) {
    const auto endpoint = SageMaker(transport).describe_endpoint("speech", deadline);
    ASSERT_FALSE(endpoint);
    EXPECT_EQ(endpoint.error().code, base::ErrorCode::kInvalidData);
  }
}

}  // namespace
}  // namespace headroom::aws
