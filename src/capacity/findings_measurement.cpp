// Findings about the measurement a plan stands on.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/findings.hpp"

namespace headroom::capacity::detail {
namespace {

constexpr double kInvocationCeilingS = 60;  // SageMaker ends an invocation after 60 s

void measurement_trust(const PlanInput& in, Findings& out) {
  std::vector<std::string> doubts;
  std::string remedy;
  const auto doubt = [&](const std::string& what, const std::string& cure) {
    doubts.push_back(what);
    if (remedy.empty()) remedy = cure;
  };
  if (in.qmax_verdict == QmaxVerdict::kLowerBound)
    doubt(fmt::format("Q_max {} is a lower bound: the search ended before a larger count was found to fail",
                      *in.q_max),
          "measure with a larger --budget (or larger --rungs, --max-n) until a count fails");
  if (in.host_contended)
    doubt("instances and driver shared too few cores (host_contended)",
          "measure on a host with a core for each instance and for the driver");
  if (in.ttotal_client_bound)
    doubt(
        fmt::format("T_m may be the driver's, not the service's (client_bound: {})", *in.ttotal_client_bound),
        "run tts-bench ttotal again from a machine with spare cores");
  if (in.paced_engine)
    doubt("the paced engine was measured, not a model", "measure the real engine before a policy goes live");
  if (!in.fingerprint_known)
    doubt("the artifacts carry no fingerprint, so nothing shows that they belong to this endpoint",
          "measure with tts-bench qmax and ttotal");
  if (doubts.empty()) {
    out.push_back({"measurement_trust", Level::kOk,
                   fmt::format("Q_max {} bracketed, the real engine, one fingerprint", *in.q_max), ""});
  } else {
    out.push_back({"measurement_trust", Level::kWarn, fmt::format("{}", fmt::join(doubts, "; ")), remedy});
  }
}

// qmax ends inconclusive (exit 4) where this finds anything: the worst of it, a failed sustain first.
Finding doubt_of_holds(const std::vector<HoldDoubt>& doubts) {
  for (const HoldDoubt& doubt : doubts) {
    if (!doubt.sustain_failed) continue;
    return {"curve_repeatability", Level::kFail,
            fmt::format("Q_max did not hold when {} outstanding were held again ({})", doubt.rung.n,
                        verdict_name(*doubt.rung.verdict)),
            "the instance does not carry what the search found: find what slowed it and measure again"};
  }
  for (const HoldDoubt& doubt : doubts) {
    if (doubt.rung.verdict != RungVerdict::kDegraded) continue;
    return {"curve_repeatability", Level::kWarn,
            fmt::format("the repeat of rung {} differs by more than 25 % from the first", doubt.rung.n),
            "find what slowed the instance (throttling, neighbours, memory) and measure again"};
  }
  const Rung& rung = doubts.front().rung;
  return {"curve_repeatability", Level::kWarn,
          fmt::format("the {} at {} outstanding judged nothing: {}", rung.repeat ? "repeat" : "rung", rung.n,
                      verdict_name(*rung.verdict)),
          "tts-bench qmax called this inconclusive (exit 4): measure again"};
}

void curve_repeatability(const PlanInput& in, Findings& out) {
  if (const auto doubts = doubtful_holds(in.rungs); !doubts.empty()) {
    out.push_back(doubt_of_holds(doubts));
    return;
  }
  if (!in.runs_spread) {
    out.push_back({"curve_repeatability", Level::kInfo, "one run: how far another would differ is not known",
                   "tts-bench qmax --runs 3"});
  } else if (*in.runs_spread > 0.2) {
    out.push_back({"curve_repeatability", Level::kWarn,
                   fmt::format("Q_max of the runs differs by {:.0f} %", 100 * *in.runs_spread),
                   "the smallest was taken; look for noise and measure again"});
  } else {
    out.push_back({"curve_repeatability", Level::kOk,
                   fmt::format("Q_max of the runs differs by {:.0f} %", 100 * *in.runs_spread), ""});
  }
}

void slo_budget(const PlanInput& in, const Plan& plan, Findings& out) {
  const double w_max = *plan.w_max_s;
  const std::string evidence =
      fmt::format("SLO {:.0f} ms less the unqueued p95 {:.2f} ms leaves W_max {:.3f} s of waiting", in.slo_ms,
                  *in.unqueued_p95_ms, w_max);
  if (w_max <= 0) {
    out.push_back({"slo_budget", Level::kFail, evidence,
                   "even an idle instance misses the SLO: raise it, shorten the first segment, or use a "
                   "faster instance"});
  } else if (w_max < 0.1 * in.slo_ms / 1000) {
    out.push_back({"slo_budget", Level::kWarn, evidence,
                   "less than a tenth of the SLO is left for waiting: raise it or use a faster instance"});
  } else {
    out.push_back({"slo_budget", Level::kOk, evidence, ""});
  }
}

void invocation_ceiling(const PlanInput& in, Findings& out) {
  const Rung* at = nullptr;
  for (const Rung& rung : in.rungs) {
    if (!rung.repeat && rung.n <= *in.q_max && rung.p99_ms && (!at || rung.n > at->n)) at = &rung;
  }
  if (!at) {
    out.push_back({"invocation_ceiling", Level::kInfo,
                   "p99 at Q_max is unknown; SageMaker ends an invocation after 60 s", ""});
    return;
  }
  const double p99_s = *at->p99_ms / 1000;
  const Level level = p99_s >= kInvocationCeilingS        ? Level::kFail
                      : p99_s > 0.8 * kInvocationCeilingS ? Level::kWarn
                                                          : Level::kOk;
  out.push_back(
      {"invocation_ceiling", level,
       fmt::format("p99 to first audio is {:.2f} s at {} outstanding; the ceiling is 60 s", p99_s, at->n),
       level == Level::kOk ? "" : "lower the queue limit or the SLO"});
}

void queue_depth(const PlanInput& in, const Plan& plan, Findings& out) {
  if (!in.deployed_queue_limit) {
    out.push_back(
        {"queue_depth", Level::kInfo,
         fmt::format("the plan wants MAX_QUEUE_DEPTH={}; the deployed limit is unknown", plan.queue_limit),
         fmt::format("deploy MAX_QUEUE_DEPTH={} in the container's environment", plan.queue_limit)});
  } else if (*in.deployed_queue_limit != plan.queue_limit) {
    const std::string have =
        *in.deployed_queue_limit == 0 ? "no limit" : fmt::format("{}", *in.deployed_queue_limit);
    out.push_back(
        {"queue_depth", Level::kWarn,
         fmt::format("the measured instance had {}, the plan wants {}", have, plan.queue_limit),
         fmt::format("deploy MAX_QUEUE_DEPTH={} in the container's environment", plan.queue_limit)});
  } else {
    out.push_back({"queue_depth", Level::kOk,
                   fmt::format("MAX_QUEUE_DEPTH={} is deployed and planned", plan.queue_limit), ""});
  }
}

void threshold_units(const PlanInput& in, const Plan& plan, Findings& out) {
  if (plan.policy.carrier == Carrier::kOfferedRate && !in.emits_offered_rate) {
    out.push_back({"threshold_units", Level::kWarn,
                   "the line is in requests/s, of a metric that the measured container did not emit; without "
                   "it the fleet would stay at its minimum",
                   "deploy TTS_EMF=1 in the container's environment and see the metric before you apply"});
  } else if (plan.policy.carrier == Carrier::kOfferedRate) {
    out.push_back({"threshold_units", Level::kOk, "the line is in requests/s; no conversion is needed", ""});
  } else if (plan.ratio_assumed) {
    out.push_back({"threshold_units", Level::kWarn,
                   fmt::format("metric/held was not measured; {} is assumed", *plan.calibration_ratio),
                   "measure where ConcurrentRequestsPerModel has data"});
  } else if (std::abs(*in.calibration_ratio - 1) > 0.1) {
    out.push_back({"threshold_units", Level::kWarn,
                   fmt::format("the metric reads {:.3f} x what the driver held; thresholds are converted",
                               *in.calibration_ratio),
                   "look for other traffic on the endpoint, or requests counted twice"});
  } else {
    out.push_back({"threshold_units", Level::kOk,
                   fmt::format("the metric reads {:.3f} x what the driver held", *in.calibration_ratio), ""});
  }
}

// What the simulations draw their service times from.
void service_times(const PlanInput& in, Findings& out) {
  if (in.unqueued_samples_s.empty()) {
    out.push_back({"service_times", Level::kInfo,
                   "the measurement keeps no single service times: simulated with a lognormal of the "
                   "unqueued mean and p95",
                   "measure with tts-bench qmax, which keeps them in unqueued.sample_ms"});
  } else {
    out.push_back({"service_times", Level::kOk,
                   fmt::format("simulated with {} measured service times", in.unqueued_samples_s.size()),
                   ""});
  }
}

void provision_stage(const PlanInput& in, Findings& out) {
  const auto stage = largest_stage(in.measured_stages);
  if (!stage) {
    out.push_back({"provision_stage", Level::kInfo, "the stages of T_total are unknown", "tts-bench ttotal"});
    return;
  }
  out.push_back({"provision_stage", Level::kInfo,
                 "largest stage: " + share_sentence(*stage, *in.measured_total_s, *in.total_s),
                 stage_remedy(stage->to)});
}

}  // namespace

void find_measurement(const PlanInput& in, const Plan& plan, Findings& out) {
  measurement_trust(in, out);
  curve_repeatability(in, out);
  slo_budget(in, plan, out);
  invocation_ceiling(in, out);
  queue_depth(in, plan, out);
  threshold_units(in, plan, out);
  provision_stage(in, out);
  service_times(in, out);
}

std::vector<Finding> find_all(const PlanInput& input, const Plan& plan) {
  Findings findings;
  find_measurement(input, plan, findings);
  find_policy(input, plan, findings);
  return findings;
}

}  // namespace headroom::capacity::detail
