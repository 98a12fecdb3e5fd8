// Translate: the policy of a plan as the requests of Application Auto Scaling and CloudWatch.
//
// Field by field, no decision of its own. Pure, thread safe, no errors. Sources: Application Auto Scaling API
// 2016-02-06 (PutScalingPolicy), CloudWatch API 2010-08-01 (PutMetricAlarm).
#pragma once

#include <string>
#include <vector>

#include "aws/autoscaling.hpp"
#include "aws/cloudwatch.hpp"
#include "capacity/policy.hpp"

namespace headroom::bench {

aws::Metric to_aws(const capacity::MetricRef& metric);
aws::ScalingPolicy to_aws(const capacity::PolicyRule& rule, const std::string& resource_id);
// `policy_arn`: what the alarm triggers; empty for an informative one, which then has no action.
aws::Alarm to_aws(const capacity::AlarmRule& rule, const std::string& policy_arn);

// Scale-out, then scale-in.
std::vector<capacity::PolicyRule> all_rules(const capacity::Policy& policy);

// "headroom-<endpoint>-<variant>-": how everything is named that `apply` makes.
std::string own_prefix(const std::string& endpoint, const std::string& variant);

}  // namespace headroom::bench
