// Apply steps: what has to change so that what is deployed is what the plan holds, and why a plan is refused.
//
// Pure. Only things named "headroom-<endpoint>-<variant>-" that watch this variant are ever put or deleted.
// Thread safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "base/result.hpp"
#include "bench/policy_compare.hpp"

namespace headroom::bench {

enum class ApplyAction { kRegisterTarget, kDeletePolicy, kPutPolicy, kPutAlarm, kDeleteAlarm };

struct ApplyStep {
  ApplyAction action;
  std::string name;  // of the policy or alarm; the resource id for the target
  std::string why;
  bool operator==(const ApplyStep&) const = default;
};

// In the order to do them; empty: all is as planned. A policy whose type changes is deleted first, because
// PutScalingPolicy cannot change a type.
std::vector<ApplyStep> apply_steps(const capacity::Plan& plan, const Deployed& deployed);

// The alarm to put: the plan's, with the actions that a person added (a topic to tell) kept.
aws::Alarm merged_alarm(const capacity::AlarmRule& rule, const std::string& policy_arn,
                        const aws::Alarm* found);

// Why the plan may not be applied to this endpoint; nullopt: it may. kRefused.
// `live`: the fingerprint read from the endpoint, with the plan's own transport and workload.
std::optional<base::Error> plan_refusal(const artifact::PlanArtifact& plan, const std::string& plan_file,
                                        const Deployed& deployed, const artifact::Fingerprint& live);

std::string step_line(const ApplyStep& step);

}  // namespace headroom::bench
