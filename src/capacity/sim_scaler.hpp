// Scalers: who decides the desired count in the simulation, looked at once every 10 s.
//
// policy_scaler runs a plan's policy through the very rules that tts-local uses (alarm_rules.hpp,
// scaling_rules.hpp); the others are rivals to compare with: a static fleet, the Kubernetes HPA's rule and a
// slope prediction. Rivals that AWS offers (CPU or invocations target) are policies: see rival_policy. Pure.
// Thread safety: single. No errors.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "capacity/policy.hpp"
#include "capacity/scaling_rules.hpp"
#include "capacity/sim_metrics.hpp"

namespace headroom::capacity {

class Scaler {
 public:
  virtual ~Scaler() = default;
  // Called at every multiple of 10 s with the metrics up to now; nullopt: no change. The caller bounds it.
  virtual std::optional<int> decide(const SimMetrics& metrics, const Fleet& fleet) = 0;
};

std::unique_ptr<Scaler> static_scaler();
std::unique_ptr<Scaler> policy_scaler(const Policy& policy, const Bounds& bounds, CapacityBase base);

// Kubernetes' horizontal pod autoscaler on CPU: every 20 s (its default is 15 s; the metrics here come every
// 10), ceil(n * utilisation / target) unless within 10 % of it, at most doubled or +4 at once, and no less
// than the largest wish of the last 300 s. Source: Kubernetes documentation, "Horizontal Pod Autoscaling".
std::unique_ptr<Scaler> hpa_scaler(double target_utilisation);

// ceil((rate + slope * horizon) / ((1 - spare) * throughput)), the slope by least squares over 120 s; in by
// one when a fleet of n - 1 would do for 180 s, once in 300 s.
std::unique_ptr<Scaler> slope_scaler(double throughput_rps, double horizon_s, double spare);

// Target tracking on "cpu" (70 %) or "invocations" (70 % of the throughput, by the minute) with AWS's default
// cooldowns of 300 s. Sources: Application Auto Scaling, "Target tracking scaling policies"; SageMaker,
// "Load testing your auto scaling configuration" (SAFETY_FACTOR).
Policy rival_policy(const std::string& kind, double throughput_rps);

}  // namespace headroom::capacity
