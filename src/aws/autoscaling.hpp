// Application Auto Scaling for SageMaker variants: targets, policies, activities, as plain structs.
//
// Blocking; as thread safe as its Transport. Every list is read to its last page. Service namespace and
// dimension are fixed: sagemaker, sagemaker:variant:DesiredInstanceCount. Source: Application Auto Scaling
// API 2016-02-06.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aws/cloudwatch.hpp"
#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

inline constexpr const char* kVariantDimension = "sagemaker:variant:DesiredInstanceCount";
std::string variant_resource_id(const std::string& endpoint,
                                const std::string& variant);  // endpoint/E/variant/V

struct SuspendedState {
  bool scale_in = false;
  bool scale_out = false;
  bool scheduled = false;
  bool operator==(const SuspendedState&) const = default;
};

struct ScalableTarget {
  std::string resource_id;
  std::string dimension = kVariantDimension;
  int min_capacity = 0;
  int max_capacity = 0;
  std::string role_arn;
  std::string arn;
  SuspendedState suspended;
  std::optional<base::WallTime> created;
};

// What RegisterScalableTarget changes; nullopt leaves a value as it is (min and max are needed the first
// time).
struct TargetChange {
  std::string resource_id;
  std::optional<int> min_capacity;
  std::optional<int> max_capacity;
  std::optional<SuspendedState> suspended;
  std::string role_arn;
};

struct CustomizedMetric {
  std::optional<Metric> metric;  // or `queries`
  std::string statistic;
  std::string unit;
  std::vector<MetricQuery> queries;
  bool operator==(const CustomizedMetric&) const = default;
};

struct TargetTracking {
  double target_value = 0;
  std::string predefined_metric;  // SageMakerVariantConcurrentRequestsPerModelHighResolution, ... or ""
  std::string resource_label;
  std::optional<CustomizedMetric> customized;
  std::optional<int> scale_out_cooldown_s;
  std::optional<int> scale_in_cooldown_s;
  std::optional<bool> disable_scale_in;
  bool operator==(const TargetTracking&) const = default;
};

struct StepAdjustment {
  std::optional<double> lower_bound;  // relative to the alarm's threshold; nullopt = minus infinity
  std::optional<double> upper_bound;
  int adjustment = 0;
  bool operator==(const StepAdjustment&) const = default;
};

struct StepScaling {
  std::string adjustment_type;  // ChangeInCapacity, PercentChangeInCapacity, ExactCapacity
  std::vector<StepAdjustment> steps;
  std::optional<int> cooldown_s;
  std::optional<int> min_adjustment_magnitude;
  std::string aggregation;  // Average, Minimum, Maximum or ""
  bool operator==(const StepScaling&) const = default;
};

struct PolicyAlarm {
  std::string name;
  std::string arn;
};

struct ScalingPolicy {
  std::string name;
  std::string arn;
  std::string resource_id;
  std::string dimension = kVariantDimension;
  std::string type;  // TargetTrackingScaling, StepScaling, PredictiveScaling
  std::optional<TargetTracking> target_tracking;
  std::optional<StepScaling> step_scaling;
  std::vector<PolicyAlarm> alarms;  // read only
  std::optional<base::WallTime> created;
};

struct ScalingActivity {
  std::string id;
  std::string resource_id;
  std::string description;
  std::string cause;
  std::string status;  // Pending, InProgress, Successful, Overridden, Unfulfilled, Failed
  std::string status_message;
  std::optional<base::WallTime> start;
  std::optional<base::WallTime> end;
};

class AutoScaling {
 public:
  explicit AutoScaling(Transport& transport) : transport_(transport) {}

  base::Result<void> register_target(const TargetChange& change, base::Deadline deadline);
  base::Result<void> deregister_target(const std::string& resource_id, base::Deadline deadline);
  // Empty ids: every target of the account and region (drift looks for orphans).
  base::Result<std::vector<ScalableTarget>> describe_targets(const std::vector<std::string>& resource_ids,
                                                             base::Deadline deadline);
  // The policy's ARN; the alarms that target tracking made.
  struct PutPolicy {
    std::string arn;
    std::vector<PolicyAlarm> alarms;
  };
  base::Result<PutPolicy> put_policy(const ScalingPolicy& policy, base::Deadline deadline);
  // Empty resource id: every policy of the account and region.
  base::Result<std::vector<ScalingPolicy>> describe_policies(const std::string& resource_id,
                                                             base::Deadline deadline);
  base::Result<void> delete_policy(const std::string& name, const std::string& resource_id,
                                   base::Deadline deadline);
  base::Result<std::vector<ScalingActivity>> describe_activities(const std::string& resource_id,
                                                                 base::Deadline deadline);
  // Of a scalable target, by its ARN: key -> value.
  base::Result<std::map<std::string, std::string>> list_tags(const std::string& target_arn,
                                                             base::Deadline deadline);

 private:
  Transport& transport_;
};

}  // namespace headroom::aws
