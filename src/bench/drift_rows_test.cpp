// Each kind of drift has its row, its severity and its remedy; a clean endpoint has none.
#include "bench/drift_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/example_policy.hpp"

namespace headroom::bench {
namespace {

using testing::HasSubstr;

// InService with one instance, no target, no plan: as right after creating it.
DriftInput fresh() {
  DriftInput in;
  in.live.endpoint.name = "e";
  in.live.endpoint.status = "InService";
  in.live.endpoint.variants = {{"AllTraffic", 1, 1, {}, {}, {}, {}}};
  in.live.desired = 1;
  in.live.config.instance_type = "ml.g5.xlarge";
  in.live.model.name = "m";
  in.deployed = {"e", "AllTraffic", aws::variant_resource_id("e", "AllTraffic"), {}, {}, {}};
  in.quota = QuotaRoom{"", "L-1", 4, 0};
  in.commands.endpoint = "e";
  return in;
}

DriftInput applied(capacity::Rule rule = capacity::Rule::kPublished) {
  DriftInput in = fresh();
  in.plan = artifact::PlanArtifact{};
  in.plan->plan = example::plan(rule);
  in.plan->plan.max_instances = 4;
  in.live.queue_limit = 50;
  in.deployed = example::deployed(in.plan->plan);
  in.live.target = in.deployed.target;
  return in;
}

model::ModelFile model_file() {
  model::ModelFile file;
  file.path = "models/m.toml";
  file.instance_type = "ml.g5.xlarge";
  file.max_instances = 4;
  return file;
}

const Check* row(const std::vector<Check>& checks, const std::string& id) {
  for (const auto& check : checks) {
    if (check.id == id) return &check;
  }
  return nullptr;
}

std::string level(const DriftInput& in, const std::string& id) {
  const auto checks = drift_checks(in);
  const Check* check = row(checks, id);
  return check ? check->level : "none";
}

TEST(Drift, IsCleanOnAFreshEndpointAndAfterApply) {
  EXPECT_EQ(drift_verdict(drift_checks(fresh())), "clean");
  for (const auto rule : {capacity::Rule::kPublished, capacity::Rule::kRecommended})
    EXPECT_EQ(drift_verdict(drift_checks(applied(rule))), "clean");
}

TEST(Drift, HoldsTheEndpointAgainstItsModelFile) {
  DriftInput in = fresh();
  in.model_file = model_file();
  EXPECT_EQ(drift_verdict(drift_checks(in)), "clean");
  in.model_file->instance_type = "ml.g6.xlarge";
  EXPECT_EQ(level(in, "endpoint.InstanceType"), "ERROR");
  in.model_file = model_file();
  in.model_file->min_instances = 2;
  EXPECT_EQ(level(in, "endpoint.DesiredInstanceCount"), "ERROR");
  in.model_file = model_file();
  in.model_file->environment["TTS_ENGINE"] = "openvino";
  in.live.model.environment["TTS_ENGINE"] = "paced";
  EXPECT_EQ(level(in, "environment.TTS_ENGINE"), "WARN");
  in.live.target = aws::ScalableTarget{};
  in.live.target->min_capacity = 1;
  in.live.target->max_capacity = 9;
  EXPECT_EQ(level(in, "target.MaxCapacity"), "ERROR");
}

TEST(Drift, NeverPrintsASecretOfTheEnvironment) {
  DriftInput in = fresh();
  in.model_file = model_file();
  in.model_file->environment["HF_TOKEN"] = "hf_wanted";
  in.live.model.environment["HF_TOKEN"] = "hf_found";
  const auto checks = drift_checks(in);
  const Check* check = row(checks, "environment.HF_TOKEN");
  ASSERT_NE(check, nullptr);
  EXPECT_THAT(check->found + check->wanted, testing::Not(HasSubstr("hf_")));
}

TEST(Drift, NamesEveryPartOfAnAppliedPlanThatChanged) {
  DriftInput in = applied();
  in.deployed.policies[0].target_tracking->target_value = 99;
  EXPECT_EQ(level(in, "policy headroom-e-AllTraffic-out.TargetValue"), "ERROR");
  in = applied();
  in.live.target->max_capacity = 5;
  EXPECT_EQ(level(in, "target.MaxCapacity"), "ERROR");
  in = applied();
  in.live.target->suspended.scale_out = true;
  EXPECT_EQ(level(in, "target.SuspendedState.DynamicScalingOutSuspended"), "ERROR");
  in = applied();
  in.live.queue_limit.reset();
  EXPECT_EQ(level(in, "environment.MAX_QUEUE_DEPTH"), "WARN");
  in = applied();
  in.deployed.policies.push_back(in.deployed.policies[1]);
  in.deployed.policies.back().name = "by-hand";
  EXPECT_EQ(level(in, "policy by-hand"), "WARN");
}

TEST(Drift, OnlyWarnsOfAPlanThatIsNotAppliedYet) {
  DriftInput in = applied();
  in.deployed = fresh().deployed;
  in.live.target.reset();
  const auto checks = drift_checks(in);
  EXPECT_EQ(drift_verdict(checks), "warnings");
  EXPECT_EQ(row(checks, "plan")->remedy, "tts-bench apply --endpoint e");
  in.plan->plan.verdict = capacity::PlanVerdict::kInfeasible;
  EXPECT_EQ(level(in, "plan"), "INFO");
}

TEST(Drift, NamesAFreezeByTagOrJournal) {
  DriftInput in = fresh();
  FreezeRecord record;
  record.run_id = "0123456789abc";
  record.desired = 3;
  in.tag = record;
  in.journal = record;
  auto checks = drift_checks(in);
  EXPECT_EQ(drift_verdict(checks), "drifted");
  EXPECT_THAT(row(checks, "freeze.tag")->found, HasSubstr("0123456789abc"));
  EXPECT_EQ(row(checks, "freeze.tag")->remedy, "tts-bench thaw --endpoint e");
  EXPECT_EQ(row(checks, "freeze.journal"), nullptr);  // the same run, said once
  in.tag.reset();
  EXPECT_EQ(level(in, "freeze.journal"), "ERROR");
}

TEST(Drift, TellsAnInertPolicyFromAQuietOne) {
  DriftInput in = applied();
  auto& alarm = in.deployed.alarms[1];  // scale-in
  const std::string id = "alarm " + alarm.name + ".StateValue";
  alarm.state = "INSUFFICIENT_DATA";
  in.silent[alarm.name] = {"ConcurrentRequestsPerModel"};
  EXPECT_EQ(level(in, id), "INFO");  // no load, no data
  in.under_load = true;
  EXPECT_EQ(level(in, id), "ERROR");
  in.silent.clear();
  EXPECT_EQ(level(in, id), "WARN");  // data, but not evaluated
  auto& informative = in.deployed.alarms[2];
  in.silent[informative.name] = {"FirstChunkLatency"};
  EXPECT_EQ(level(in, "alarm " + informative.name + ".StateValue"), "WARN");
  in = applied(capacity::Rule::kRecommended);
  in.deployed.policies[0].alarms.clear();
  EXPECT_EQ(level(in, "policy " + in.deployed.policies[0].name + ".Alarms"), "ERROR");
}

TEST(Drift, NamesAStatisticThatMeansSomethingElse) {
  DriftInput in = applied();
  auto& alarm = in.deployed.alarms[1];
  const std::string id = "alarm " + alarm.name + ".Statistic";
  ASSERT_TRUE(alarm.metric);
  in.plan.reset();  // a policy that somebody made by hand
  alarm.metric->name = "ConcurrentRequestsPerModel";
  for (const auto& wrong : {"Sum", "SampleCount"}) {
    alarm.statistic = wrong;
    EXPECT_EQ(level(in, id), "ERROR") << wrong;
  }
  alarm.statistic = "Average";
  EXPECT_EQ(row(drift_checks(in), id), nullptr);
  alarm.statistic = "Sum";
  alarm.metric->name = "Invocations";
  EXPECT_EQ(row(drift_checks(in), id), nullptr);
}

TEST(Drift, ReportsAlarmsThatAreScalingNow) {
  DriftInput in = applied(capacity::Rule::kRecommended);
  auto& out = in.deployed.alarms[0];
  out.state = "ALARM";
  EXPECT_EQ(level(in, "alarm " + out.name + ".StateValue"), "WARN");
  in = applied(capacity::Rule::kPublished);
  auto& down = in.deployed.alarms[1];
  down.state = "ALARM";
  EXPECT_EQ(level(in, "alarm " + down.name + ".StateValue"), "INFO");  // at its minimum it rings for ever
  in.live.desired = 2;
  EXPECT_EQ(level(in, "alarm " + down.name + ".StateValue"), "WARN");
}

TEST(Drift, NamesOrphansWithTheCommandThatRemovesThem) {
  DriftInput in = fresh();
  in.orphans = {{"endpoint/gone/variant/AllTraffic", "endpoint 'gone' does not exist", true, {"p", "q"}}};
  const auto checks = drift_checks(in);
  const Check* orphan = row(checks, "orphan endpoint/gone/variant/AllTraffic");
  ASSERT_NE(orphan, nullptr);
  EXPECT_EQ(orphan->level, "WARN");
  EXPECT_THAT(orphan->found, HasSubstr("p, q"));
  EXPECT_THAT(orphan->remedy, HasSubstr("--resource-id endpoint/gone/variant/AllTraffic"));
}

TEST(Drift, WarnsOfAQuotaBelowTheMaximum) {
  DriftInput in = fresh();
  EXPECT_EQ(drift_quota(in).level, "OK");
  in.quota->limit = 1;  // ttotal needs a second instance
  EXPECT_THAT(drift_quota(in).wanted, HasSubstr("ttotal"));
  in.quota->limit = 4;
  in.model_file = model_file();
  in.model_file->max_instances = 9;
  EXPECT_EQ(drift_quota(in).level, "WARN");
  EXPECT_THAT(drift_quota(in).remedy, HasSubstr("--desired-value 9"));
  in.quota.reset();
  EXPECT_EQ(drift_quota(in).level, "INFO");
}

TEST(Drift, CountsWhatOtherEndpointsHoldOfTheQuota) {
  DriftInput in = fresh();
  in.quota->held_elsewhere = 2;
  EXPECT_EQ(drift_quota(in).level, "OK");  // two are left: ttotal's second has room
  in.quota->held_elsewhere = 3;
  EXPECT_EQ(drift_quota(in).level, "WARN");
  EXPECT_THAT(drift_quota(in).found, HasSubstr("3 of them held by other variants"));
  EXPECT_THAT(drift_quota(in).remedy, HasSubstr("--desired-value 5"));
  in.quota->held_elsewhere.reset();
  EXPECT_EQ(drift_quota(in).level, "OK");
  EXPECT_THAT(drift_quota(in).found, HasSubstr("unknown"));
}

}  // namespace
}  // namespace headroom::bench
