// What apply does, in which order, what it never touches, and what it refuses.
#include "bench/apply_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/example_policy.hpp"

namespace headroom::bench {
namespace {

using capacity::Rule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Deployed nothing() { return {"e", "AllTraffic", aws::variant_resource_id("e", "AllTraffic"), {}, {}, {}}; }

std::vector<std::string> done(const capacity::Plan& plan, const Deployed& deployed) {
  static const char* const kVerbs[] = {"target", "-policy", "+policy", "+alarm", "-alarm"};
  std::vector<std::string> out;
  for (const auto& step : apply_steps(plan, deployed)) {
    const auto dash = step.name.rfind("AllTraffic-");
    out.push_back(std::string(kVerbs[static_cast<int>(step.action)]) +
                  (dash == std::string::npos ? "" : " " + step.name.substr(dash + 11)));
  }
  return out;
}

TEST(ApplySteps, MakeEverythingOnABareEndpoint) {
  EXPECT_THAT(done(example::plan(Rule::kPublished), nothing()),
              ElementsAre("target", "+policy out", "+policy in", "+alarm in", "+alarm unqueued-p95"));
}

TEST(ApplySteps, AreNoneTheSecondTime) {
  for (const auto rule : {Rule::kPublished, Rule::kRecommended}) {
    const auto plan = example::plan(rule);
    EXPECT_THAT(apply_steps(plan, example::deployed(plan)), IsEmpty());
  }
}

TEST(ApplySteps, MendOnlyWhatDiffersAndSayWhich) {
  const auto plan = example::plan(Rule::kPublished);
  Deployed found = example::deployed(plan);
  found.target->max_capacity = 9;
  found.policies[1].step_scaling->cooldown_s = 1;
  found.alarms.back().threshold = 1;
  const auto steps = apply_steps(plan, found);
  EXPECT_THAT(done(plan, found), ElementsAre("target", "+policy in", "+alarm unqueued-p95"));
  EXPECT_EQ(steps[1].why, "Cooldown");
  EXPECT_EQ(steps[2].why, "Threshold");
}

TEST(ApplySteps, PutTargetTrackingAgainWhenItsAlarmWasChanged) {
  const auto plan = example::plan(Rule::kPublished);
  Deployed found = example::deployed(plan);
  found.alarms[0].threshold = 99;
  EXPECT_THAT(done(plan, found), ElementsAre("+policy out"));
}

TEST(ApplySteps, DeleteAPolicyWhoseTypeChangesFirst) {
  const auto before = example::plan(Rule::kPublished), after = example::plan(Rule::kRecommended);
  const auto found = example::deployed(before);
  EXPECT_THAT(done(after, found), ElementsAre("-policy out", "+policy out", "+alarm out", "+alarm in"));
}

TEST(ApplySteps, RemoveWhatAnEarlierPlanLeftAndNothingElse) {
  const auto plan = example::plan(Rule::kRecommended);
  Deployed found = example::deployed(plan);
  const auto add = [&](const std::string& name) {
    found.policies.push_back(found.policies[1]);
    found.policies.back().name = name;
    found.alarms.push_back(found.alarms[0]);
    found.alarms.back().name = name;
  };
  add("headroom-e-AllTraffic-old");
  add("by-hand");
  add("headroom-e-AllTraffic-AllTraffic-out");
  found.alarms.back().metric->dimensions[0].value = "e-AllTraffic";
  found.policies.back().resource_id = "endpoint/e-AllTraffic/variant/AllTraffic";
  EXPECT_THAT(done(plan, found), ElementsAre("-alarm old", "-policy old"));
}

TEST(ApplySteps, PutAnAlarmAgainWhenItsPolicyIsNew) {
  const auto plan = example::plan(Rule::kRecommended);
  Deployed found = example::deployed(plan);
  found.policies.erase(found.policies.begin());  // deleted by hand; its alarm still names the old ARN
  EXPECT_THAT(done(plan, found), ElementsAre("+policy out", "+alarm out"));
}

TEST(ApplySteps, KeepActionsThatAPersonAdded) {
  const auto plan = example::plan(Rule::kPublished);
  aws::Alarm found;
  found.alarm_actions = {"arn:aws:sns:1:topic", example::arn_of("stale")};
  found.ok_actions = {"arn:aws:sns:1:topic"};
  const auto merged = merged_alarm(plan.policy.alarms[0], example::arn_of("new"), &found);
  EXPECT_THAT(merged.alarm_actions, ElementsAre(example::arn_of("new"), "arn:aws:sns:1:topic"));
  EXPECT_THAT(merged.ok_actions, ElementsAre("arn:aws:sns:1:topic"));
}

class Refusal : public testing::Test {
 protected:
  Refusal() {
    plan_.plan = example::plan(Rule::kPublished);
    plan_.transport = "response-stream";
    plan_.header.fingerprint.endpoint = live_.endpoint = "e";
    plan_.header.fingerprint.variant = live_.variant = "AllTraffic";
    plan_.header.fingerprint.instance_type = live_.instance_type = "ml.g5.xlarge";
    plan_.header.fingerprint.workload_hash = live_.workload_hash = "w";
  }
  std::string said() {
    const auto error = plan_refusal(plan_, "plan.json", found_, live_);
    if (!error) return "";
    EXPECT_EQ(error->code, base::ErrorCode::kRefused);
    return error->message;
  }
  artifact::PlanArtifact plan_;
  artifact::Fingerprint live_;
  Deployed found_ = nothing();
};

TEST_F(Refusal, IsNotForAGoodPlan) { EXPECT_EQ(said(), ""); }

TEST_F(Refusal, NamesTheFindingThatMakesAPlanInfeasible) {
  plan_.plan.verdict = capacity::PlanVerdict::kInfeasible;
  plan_.plan.findings = {{"knee", capacity::Level::kOk, "fine", ""},
                         {"slo_budget", capacity::Level::kFail, "p95 is 3040 ms", ""}};
  EXPECT_THAT(said(), HasSubstr("slo_budget: p95 is 3040 ms"));
}

TEST_F(Refusal, NamesThePlanThatWasNotConverted) {
  plan_.plan.calibration_ratio.reset();
  EXPECT_THAT(said(), HasSubstr("--assume-ratio"));
  plan_.plan.ratio_assumed = true;
  EXPECT_EQ(said(), "");
  plan_.plan.ratio_assumed = false;
  plan_.plan.policy.carrier = capacity::Carrier::kOfferedRate;  // counts requests, needs no ratio
  EXPECT_EQ(said(), "");
}

TEST_F(Refusal, NamesEachDifferenceOfTheDeployment) {
  live_.instance_type = "ml.g6.xlarge";
  live_.environment["TTS_WORKERS"] = "2";
  EXPECT_THAT(said(), testing::AllOf(HasSubstr("ml.g6.xlarge"), HasSubstr("TTS_WORKERS")));
}

TEST_F(Refusal, DoesNotTakeAnUnmeasuredEnvironmentForAnEmptyOne) {
  live_.environment["TTS_WORKERS"] = "2";
  EXPECT_THAT(said(), HasSubstr("TTS_WORKERS"));   // measured without it
  plan_.header.fingerprint.workload_hash.reset();  // planned from files without a fingerprint
  EXPECT_EQ(said(), "");
}

TEST_F(Refusal, NamesAPolicyOfAnotherEndpoint) {
  found_.endpoint = "f";
  EXPECT_THAT(said(), HasSubstr("does not begin with 'headroom-f-AllTraffic-'"));
}

TEST_F(Refusal, NamesAnAlarmThatAnotherVariantOwns) {
  aws::Alarm alarm;
  alarm.name = "headroom-e-AllTraffic-in";
  alarm.alarm_actions = {
      "arn:aws:autoscaling:r:1:scalingPolicy:u:resource/sagemaker/endpoint/x/variant/y:"
      "policyName/p"};
  found_.alarms = {alarm};
  EXPECT_THAT(said(), HasSubstr("another variant"));
}

}  // namespace
}  // namespace headroom::bench
