// Each field that a person can change is named; what the services leave out or add is no difference.
#include "bench/policy_compare.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/example_policy.hpp"

namespace headroom::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Change {
  const char* id;  // of the one check that must name it
  std::function<void(Deployed&)> make;
};

aws::ScalingPolicy& policy(Deployed& d, const std::string& what) {
  for (auto& row : d.policies) {
    if (row.name == "headroom-e-AllTraffic-" + what) return row;
  }
  throw std::logic_error("no policy " + what);
}

aws::Alarm& alarm(Deployed& d, const std::string& what) {
  for (auto& row : d.alarms) {
    if (row.name == "headroom-e-AllTraffic-" + what) return row;
  }
  throw std::logic_error("no alarm " + what);
}

void each_is_named(const capacity::Plan& plan, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    Deployed found = example::deployed(plan);
    change.make(found);
    const auto checks = compare_policies(plan.policy, found, example::commands(), "ERROR");
    EXPECT_THAT(example::errors(checks), ElementsAre(change.id));
    for (const auto& check : checks) {
      if (check.level == "ERROR") {
        EXPECT_NE(check.found, check.wanted) << check.id;
        EXPECT_THAT(check.remedy, testing::MatchesRegex("(tts-bench|aws) .*")) << check.id;
      }
    }
  }
}

TEST(PolicyCompare, FindsNothingRightAfterApply) {
  for (const auto rule : {capacity::Rule::kPublished, capacity::Rule::kRecommended}) {
    const auto plan = example::plan(rule);
    const auto checks = compare_policies(plan.policy, example::deployed(plan), example::commands(), "ERROR");
    EXPECT_THAT(example::errors(checks), IsEmpty());
    EXPECT_EQ(checks.size(), 2 + plan.policy.alarms.size());
  }
}

TEST(PolicyCompare, NamesEachFieldOfThePublishedForm) {
  each_is_named(
      example::plan(capacity::Rule::kPublished),
      {
          {"policy headroom-e-AllTraffic-out.TargetValue",
           [](Deployed& d) { policy(d, "out").target_tracking->target_value = 40; }},
          {"policy headroom-e-AllTraffic-out.ScaleOutCooldown",
           [](Deployed& d) { policy(d, "out").target_tracking->scale_out_cooldown_s = 31; }},
          {"policy headroom-e-AllTraffic-out.ScaleInCooldown",
           [](Deployed& d) { policy(d, "out").target_tracking->scale_in_cooldown_s = 31; }},
          {"policy headroom-e-AllTraffic-out.PredefinedMetricType",
           [](Deployed& d) {
             policy(d, "out").target_tracking->predefined_metric = "SageMakerVariantInvocationsPerInstance";
           }},
          {"policy "
           "headroom-e-AllTraffic-out.Alarms[TargetTracking-endpoint/e/variant/AllTraffic-AlarmHigh-1]."
           "Threshold",
           [](Deployed& d) { d.alarms[0].threshold = 38; }},
          {"policy headroom-e-AllTraffic-in.AdjustmentType",
           [](Deployed& d) { policy(d, "in").step_scaling->adjustment_type = "ExactCapacity"; }},
          {"policy headroom-e-AllTraffic-in.Cooldown",
           [](Deployed& d) { policy(d, "in").step_scaling->cooldown_s = 60; }},
          {"policy headroom-e-AllTraffic-in.MetricAggregationType",
           [](Deployed& d) { policy(d, "in").step_scaling->aggregation = "Maximum"; }},
          {"policy headroom-e-AllTraffic-in.MinAdjustmentMagnitude",
           [](Deployed& d) { policy(d, "in").step_scaling->min_adjustment_magnitude = 1; }},
          {"policy headroom-e-AllTraffic-in.StepAdjustments[0].ScalingAdjustment",
           [](Deployed& d) { policy(d, "in").step_scaling->steps[0].adjustment = -2; }},
          {"policy headroom-e-AllTraffic-in.StepAdjustments[0].MetricIntervalUpperBound",
           [](Deployed& d) { policy(d, "in").step_scaling->steps[0].upper_bound = -1; }},
          {"policy headroom-e-AllTraffic-in.StepAdjustments[0].MetricIntervalLowerBound",
           [](Deployed& d) { policy(d, "in").step_scaling->steps[0].lower_bound = -5; }},
          {"policy headroom-e-AllTraffic-in.StepAdjustments",
           [](Deployed& d) {
             policy(d, "in").step_scaling->steps.push_back({0.0, {}, 1});
           }},
      });
}

TEST(PolicyCompare, NamesEachFieldOfAnAlarm) {
  const std::string in = "alarm headroom-e-AllTraffic-in.";
  const std::vector<std::pair<const char*, std::function<void(aws::Alarm&)>>> fields{
      {"AlarmDescription", [](aws::Alarm& a) { a.description = "x"; }},
      {"Namespace", [](aws::Alarm& a) { a.metric->metric_namespace = "x"; }},
      {"MetricName", [](aws::Alarm& a) { a.metric->name = "x"; }},
      {"Dimensions", [](aws::Alarm& a) { a.metric->dimensions.pop_back(); }},
      {"Statistic", [](aws::Alarm& a) { a.statistic = "Maximum"; }},
      {"ExtendedStatistic", [](aws::Alarm& a) { a.extended_statistic = "p95"; }},
      {"Period", [](aws::Alarm& a) { a.period_s = 300; }},
      {"Unit", [](aws::Alarm& a) { a.unit = "Count"; }},
      {"DatapointsToAlarm", [](aws::Alarm& a) { a.datapoints_to_alarm = 2; }},
      {"Threshold", [](aws::Alarm& a) { a.threshold = 25.001; }},
      {"ComparisonOperator", [](aws::Alarm& a) { a.comparison = "LessThanOrEqualToThreshold"; }},
      {"TreatMissingData", [](aws::Alarm& a) { a.missing_data = ""; }},
      {"ActionsEnabled", [](aws::Alarm& a) { a.actions_enabled = false; }},
      {"AlarmActions", [](aws::Alarm& a) { a.alarm_actions.clear(); }},
      {"OKActions", [](aws::Alarm& a) { a.ok_actions = {example::arn_of("x")}; }},
      {"InsufficientDataActions",
       [](aws::Alarm& a) { a.insufficient_data_actions = {example::arn_of("x")}; }},
  };
  for (const auto& [name, make] : fields) {
    const std::string id = in + name;
    each_is_named(example::plan(capacity::Rule::kPublished),
                  {{id.c_str(), [&](Deployed& d) { make(alarm(d, "in")); }}});
  }
}

TEST(PolicyCompare, NamesEvaluationPeriodsWithTheDatapointsThatFollowThem) {
  const auto plan = example::plan(capacity::Rule::kPublished);
  Deployed found = example::deployed(plan);
  alarm(found, "in").evaluation_periods = 5;  // without DatapointsToAlarm, that is 5 of 5
  EXPECT_THAT(example::errors(compare_policies(plan.policy, found, example::commands(), "ERROR")),
              ElementsAre("alarm headroom-e-AllTraffic-in.EvaluationPeriods",
                          "alarm headroom-e-AllTraffic-in.DatapointsToAlarm"));
}

TEST(PolicyCompare, NamesEachFieldOfAMetricMathAlarm) {
  const auto query = [](Deployed& d, std::size_t i) -> aws::MetricQuery& {
    return alarm(d, "in").queries[i];
  };
  each_is_named(example::plan(capacity::Rule::kRecommended),
                {
                    {"alarm headroom-e-AllTraffic-in.Metrics[e].Expression",
                     [&](Deployed& d) { query(d, 1).expression = "i / 60 - 4"; }},
                    {"alarm headroom-e-AllTraffic-in.Metrics[i].Period",
                     [&](Deployed& d) { query(d, 0).period_s = 10; }},
                    {"alarm headroom-e-AllTraffic-in.Metrics[i].Stat",
                     [&](Deployed& d) { query(d, 0).statistic = "Average"; }},
                    {"alarm headroom-e-AllTraffic-in.Metrics[i].ReturnData",
                     [&](Deployed& d) { query(d, 0).return_data.reset(); }},  // left out means true
                    {"alarm headroom-e-AllTraffic-in.Metrics",
                     [&](Deployed& d) { alarm(d, "in").queries.erase(alarm(d, "in").queries.begin()); }},
                });
}

TEST(PolicyCompare, NamesWhatIsMissingAndWhatDoesNotBelong) {
  each_is_named(example::plan(capacity::Rule::kPublished),
                {
                    {"policy headroom-e-AllTraffic-in",
                     [](Deployed& d) {
                       d.policies.pop_back();
                       alarm(d, "in").alarm_actions.clear();
                     }},
                    {"alarm headroom-e-AllTraffic-unqueued-p95", [](Deployed& d) { d.alarms.pop_back(); }},
                    {"policy by-hand",
                     [](Deployed& d) {
                       d.policies.push_back(d.policies[1]);
                       d.policies.back().name = "by-hand";
                       d.policies.back().alarms.clear();
                     }},
                    {"policy headroom-e-AllTraffic-old",
                     [](Deployed& d) {
                       d.policies.push_back(d.policies[1]);
                       d.policies.back().name = "headroom-e-AllTraffic-old";
                       d.policies.back().alarms.clear();
                     }},
                    {"alarm headroom-e-AllTraffic-old",
                     [](Deployed& d) {
                       d.alarms.push_back(alarm(d, "unqueued-p95"));
                       d.alarms.back().name = "headroom-e-AllTraffic-old";
                     }},
                    {"alarm by-hand",
                     [](Deployed& d) {
                       d.alarms.push_back(alarm(d, "in"));
                       d.alarms.back().name = "by-hand";
                       policy(d, "in").alarms.push_back({"by-hand", ""});
                     }},
                    {"policy headroom-e-AllTraffic-out.Alarms",
                     [](Deployed& d) {
                       d.alarms.erase(d.alarms.begin());
                       policy(d, "out").alarms.clear();
                     }},
                });
}

TEST(PolicyCompare, AcceptsWhatPeopleAddAndServicesReorder) {
  const auto plan = example::plan(capacity::Rule::kRecommended);
  Deployed found = example::deployed(plan);
  alarm(found, "in").alarm_actions.push_back("arn:aws:sns:us-east-1:1:tell-me");
  alarm(found, "unqueued-p95").ok_actions = {"arn:aws:sns:us-east-1:1:tell-me"};
  auto& steps = policy(found, "out").step_scaling->steps;
  std::swap(steps[0], steps[1]);
  auto& queries = alarm(found, "in").queries;
  std::swap(queries[0], queries[1]);
  auto& dimensions = alarm(found, "out").metric->dimensions;
  std::swap(dimensions[0], dimensions[1]);
  EXPECT_THAT(example::errors(compare_policies(plan.policy, found, example::commands(), "ERROR")), IsEmpty());
}

TEST(PolicyCompare, KnowsItsOwnAlarmsByWhatTheyWatch) {
  const auto plan = example::plan(capacity::Rule::kPublished);
  Deployed found = example::deployed(plan);
  aws::Alarm other = alarm(found, "in");
  EXPECT_TRUE(is_own_alarm(other, found));
  other.name = "headroom-e-AllTraffic-AllTraffic-in";  // of an endpoint called e-AllTraffic
  other.metric->dimensions[0].value = "e-AllTraffic";
  EXPECT_FALSE(is_own_alarm(other, found));
  other.name = "by-hand";
  other.metric->dimensions[0].value = "e";
  EXPECT_FALSE(is_own_alarm(other, found));
}

TEST(PolicyCompare, NamesBoundsAndSuspendedDirections) {
  const auto commands = example::commands();
  aws::ScalableTarget target;
  target.min_capacity = 1;
  target.max_capacity = 4;
  EXPECT_THAT(example::errors(compare_target(target, 1, 4, commands)), IsEmpty());
  EXPECT_THAT(example::errors(compare_target(target, 2, 4, commands)), ElementsAre("target.MinCapacity"));
  EXPECT_THAT(example::errors(compare_target(target, 1, 9, commands)), ElementsAre("target.MaxCapacity"));
  EXPECT_THAT(example::errors(compare_target(std::nullopt, 1, 9, commands)), ElementsAre("target"));
  EXPECT_THAT(compare_suspended(target, commands), IsEmpty());
  target.suspended = {true, false, true};
  const auto suspended = compare_suspended(target, commands);
  EXPECT_THAT(example::errors(suspended), ElementsAre("target.SuspendedState.DynamicScalingInSuspended",
                                                      "target.SuspendedState.ScheduledScalingSuspended"));
  EXPECT_EQ(suspended[0].remedy, "tts-bench thaw --endpoint e");
}

TEST(PolicyCompare, NamesCountsAndStatus) {
  aws::EndpointDescription endpoint;
  endpoint.name = "e";
  endpoint.status = "InService";
  endpoint.variants = {{"AllTraffic", 2, 2, {}, {}, {}, {}}};
  const auto ids = [&](std::optional<int> low, std::optional<int> high) {
    return example::errors(compare_counts(endpoint, "AllTraffic", low, high, example::commands()));
  };
  EXPECT_THAT(ids(1, 4), IsEmpty());
  EXPECT_THAT(ids({}, {}), IsEmpty());
  EXPECT_THAT(ids(3, 4), ElementsAre("endpoint.DesiredInstanceCount"));
  EXPECT_THAT(ids(1, 1), ElementsAre("endpoint.DesiredInstanceCount"));
  endpoint.variants[0].current_instance_count = 1;
  EXPECT_THAT(ids(1, 4), ElementsAre("endpoint.CurrentInstanceCount"));
  endpoint.variants[0].current_instance_count.reset();  // unknown is never 0
  EXPECT_THAT(ids(1, 4), ElementsAre("endpoint.DesiredInstanceCount"));
  endpoint.variants[0].current_instance_count = 2;
  endpoint.status = "Failed";
  endpoint.failure_reason = "no capacity";
  const auto failed = compare_counts(endpoint, "AllTraffic", 1, 4, example::commands());
  EXPECT_THAT(example::errors(failed), ElementsAre("endpoint.EndpointStatus"));
  EXPECT_EQ(failed[0].found, "Failed (no capacity)");
  EXPECT_THAT(example::errors(compare_counts(endpoint, "Other", 1, 4, example::commands())),
              ElementsAre("endpoint.ProductionVariants"));
}

TEST(PolicyCompare, WarnsOfAnotherQueueLimit) {
  const auto commands = example::commands();
  EXPECT_EQ(compare_queue_limit(50, true, 50, commands).level, "OK");
  EXPECT_EQ(compare_queue_limit(std::nullopt, true, 0, commands).level, "OK");
  EXPECT_EQ(compare_queue_limit(std::nullopt, false, 50, commands).level, "INFO");
  const auto unset = compare_queue_limit(std::nullopt, true, 50, commands);
  EXPECT_EQ(unset.level, "WARN");
  EXPECT_THAT(unset.remedy, testing::HasSubstr("MAX_QUEUE_DEPTH=50"));
  EXPECT_EQ(compare_queue_limit(40, true, 50, commands).found, "40");
}

}  // namespace
}  // namespace headroom::bench
