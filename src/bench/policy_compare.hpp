// Policy compare: what is deployed for a variant against what a plan holds, field by field.
//
// Pure; reading is deployed.hpp's. Defaults that AWS fills in or leaves out count as equal
// (DatapointsToAlarm = EvaluationPeriods, TreatMissingData = missing, ActionsEnabled = true,
// DisableScaleIn = false, ReturnData = true). Actions other than scaling policies (a topic to tell) are not
// the plan's and never a difference. Thread safe, no errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aws/autoscaling.hpp"
#include "aws/cloudwatch.hpp"
#include "aws/sagemaker.hpp"
#include "bench/checks.hpp"
#include "capacity/policy.hpp"

namespace headroom::bench {

// What Application Auto Scaling and CloudWatch hold for one variant.
struct Deployed {
  std::string endpoint, variant;
  std::string resource_id;
  std::optional<aws::ScalableTarget> target;
  std::vector<aws::ScalingPolicy> policies;
  std::vector<aws::Alarm> alarms;  // ours by name and every one that a policy names

  const aws::ScalingPolicy* policy(const std::string& name) const;
  const aws::Alarm* alarm(const std::string& name) const;
};

bool is_own_policy(const aws::ScalingPolicy& policy, const Deployed& deployed);
// By name and by what it watches: "headroom-a-b-" is also how an alarm of endpoint "a-b" may begin.
bool is_own_alarm(const aws::Alarm& alarm, const Deployed& deployed);
// Alarms that Application Auto Scaling makes for target tracking; never ours to put or delete.
bool is_tracking_alarm(const aws::Alarm& alarm);
bool is_policy_arn(const std::string& action);

std::vector<Check> compare_target(const std::optional<aws::ScalableTarget>& target, int min_instances,
                                  int max_instances, const Commands& commands);
// One check per suspended direction; nothing if there is none.
std::vector<Check> compare_suspended(const std::optional<aws::ScalableTarget>& target,
                                     const Commands& commands);
// Status, current = desired, desired within the bounds (nullopt: not checked).
std::vector<Check> compare_counts(const aws::EndpointDescription& endpoint, const std::string& variant,
                                  std::optional<int> min_instances, std::optional<int> max_instances,
                                  const Commands& commands);

std::vector<Check> compare_policy(const aws::ScalingPolicy& found, const aws::ScalingPolicy& wanted,
                                  const Commands& commands);
// `wanted.alarm_actions` holds the policy's ARN, or nothing for an informative alarm.
std::vector<Check> compare_alarm(const aws::Alarm& found, const aws::Alarm& wanted, const Commands& commands);
// Every policy and alarm of the plan, what target tracking made for itself, and what does not belong there;
// `foreign_level`: how a policy is reported that `apply` did not make.
std::vector<Check> compare_policies(const capacity::Policy& plan, const Deployed& deployed,
                                    const Commands& commands, const std::string& foreign_level);

// MAX_QUEUE_DEPTH of the container against the plan. A mismatch is a WARN: apply cannot set a container's
// environment, so validate could otherwise never pass after it. `readable`: the model could be described.
Check compare_queue_limit(std::optional<int> found, bool readable, int wanted, const Commands& commands);

}  // namespace headroom::bench
