// Contenders from a plan, one run of each, and surges at the policy's own line.
#include "capacity/contest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity {
namespace {

constexpr double kGoodShare = 0.999;

std::unique_ptr<Scaler> make_scaler(const ContestRules& rules, const Contender& contender) {
  switch (contender.kind) {
    case Contender::Kind::kStatic:
      return static_scaler();
    case Contender::Kind::kHpa:
      return hpa_scaler(0.7);
    case Contender::Kind::kSlope:
      return slope_scaler(rules.throughput_rps, rules.horizon_s, 0.2);
    case Contender::Kind::kPolicy:
      break;
  }
  return policy_scaler(contender.policy, contender.bounds, rules.base);
}

SimSetup make_setup(const ContestRules& rules, const Contender& contender, double first_rps) {
  SimSetup setup;
  setup.service = rules.service;
  setup.start = rules.start;
  setup.queue_limit = rules.queue_limit;
  setup.slo_s = rules.slo_s;
  setup.bounds = contender.bounds;
  setup.seed = rules.seed;
  setup.initial =
      std::clamp(rules.initial.value_or(ceil_up(first_rps / (contender.utilisation * rules.throughput_rps))),
                 contender.bounds.minimum, contender.bounds.maximum);
  return setup;
}

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Contender from_plan(std::string name, const Plan& plan) {
  Contender contender;
  contender.name = std::move(name);
  contender.policy = plan.policy;
  contender.bounds = {plan.min_instances, plan.max_instances, false, false};
  contender.utilisation = plan.utilisation;
  return contender;
}

}  // namespace

ContestLoad contest_load(Profile profile) {
  ContestLoad load;
  load.name = profile.name;
  load.per_second = profile.rate_rps;
  load.arrivals = [profile = std::move(profile)](std::uint64_t seed) { return poisson(profile, seed); };
  return load;
}

ContestLoad contest_load(Trace trace, int copies, double jitter_s) {
  ContestLoad load;
  load.name = trace.name;
  load.per_second = per_second(multiplied(trace, copies, jitter_s, 1));
  load.arrivals = [trace = std::move(trace), copies, jitter_s](std::uint64_t seed) {
    return recorded(multiplied(trace, copies, jitter_s, seed));
  };
  return load;
}

base::Result<ContestRow> compete(const ContestRules& rules, const ContestLoad& load,
                                 const Contender& contender) {
  const double requests = std::accumulate(load.per_second.begin(), load.per_second.end(), 0.0);
  if (auto ok = check_requests(requests); !ok) return tl::unexpected(ok.error());
  const auto first = load.per_second.begin();
  const auto horizon = static_cast<std::ptrdiff_t>(
      std::min(rules.horizon_s + 60, static_cast<double>(load.per_second.size())));
  const double begins = peak_rate({first, first + horizon});
  auto arrivals = load.arrivals(rules.seed);
  auto scaler = make_scaler(rules, contender);
  const auto result = simulate(make_setup(rules, contender, begins), *arrivals, *scaler);
  if (!result) return tl::unexpected(result.error());
  ContestRow row;
  row.name = contender.name;
  row.min_instances = contender.bounds.minimum;
  row.max_instances = contender.bounds.maximum;
  row.most = result->most;
  row.offered = result->offered;
  row.share_within_slo = result->share_within_slo();
  row.share_refused = share(result->refused, result->offered);
  row.share_late = share(result->late, result->offered);
  if (result->p95_s) row.p95_ms = 1000 * *result->p95_s;
  row.instance_hours = result->instance_hours;
  const double least = clairvoyant_hours(load.per_second, rules.throughput_rps, detail::kSaturatedShare, 1);
  if (least > 0) row.vs_clairvoyant = result->instance_hours / least;
  row.scale_outs = result->scale_outs;
  row.scale_ins = result->scale_ins;
  row.turns_per_hour = result->turns_per_hour();
  row.timeline = result->timeline;
  return row;
}

base::Result<ContestRules> contest_rules(const PlanInput& input) {
  if (auto ok = detail::check_input(input); !ok) return tl::unexpected(ok.error());
  const auto throughput = throughput_per_instance(input);
  if (!throughput) return tl::unexpected(throughput.error());
  ContestRules rules;
  rules.throughput_rps = *throughput;
  rules.service = make_service_model(*throughput, *input.unqueued_mean_ms / 1000, detail::service_cv(input),
                                     input.unqueued_samples_s);
  for (const Stage& stage : input.measured_stages) rules.start.stage_s.push_back(stage.s);
  if (rules.start.stage_s.empty()) rules.start.stage_s = {*input.measured_total_s};
  rules.horizon_s = reaction_time_s(input).value_or(*input.total_s);
  rules.slo_s = input.slo_ms / 1000;
  rules.queue_limit = *input.q_max;
  return rules;
}

std::vector<Contender> contenders(const PlanInput& input, const std::optional<Plan>& plan, bool rivals) {
  std::vector<Contender> all;
  if (plan) all.push_back(from_plan("plan", *plan));
  PlanInput other = input;
  other.rule = Rule::kPublished;
  constexpr double kPublishedHeadroom = 1.25;  // the rule has no place for half as much again
  const bool too_much = other.headroom >= 1.5;
  if (too_much) other.headroom = kPublishedHeadroom;
  if (const auto made = detail::plan_published(other))
    all.push_back(from_plan(too_much ? "published (headroom 1.25)" : "published", *made));
  other.rule = Rule::kRecommended;
  other.headroom = input.headroom;
  for (const Carrier carrier : {Carrier::kNative, Carrier::kOfferedRate}) {
    other.carrier = carrier;
    if (const auto made = detail::plan_recommended(other))
      all.push_back(from_plan(std::string("recommended ") + carrier_name(carrier), *made));
  }
  const auto mu = throughput_per_instance(input);
  if (!mu) return all;
  const int fixed = std::max(1, ceil_up(input.peak_rps / (detail::kSaturatedShare * *mu)));
  Contender fleet;
  fleet.name = "static";
  fleet.kind = Contender::Kind::kStatic;
  fleet.bounds = {fixed, fixed, false, false};
  all.push_back(fleet);
  if (!rivals) return all;
  const Bounds wide{1, 2 * fixed, false, false};
  all.push_back({"CPU target 70 %", Contender::Kind::kPolicy, rival_policy("cpu", *mu), wide, 0.7});
  all.push_back(
      {"invocations target 70 %", Contender::Kind::kPolicy, rival_policy("invocations", *mu), wide, 0.7});
  all.push_back({"HPA on CPU 70 %", Contender::Kind::kHpa, {}, wide, 0.7});
  all.push_back({"slope prediction", Contender::Kind::kSlope, {}, wide, 0.8});
  return all;
}

Profile planned_load(double trough_rps, double peak_rps, double growth, double horizon_s) {
  Profile profile;
  profile.name = "planned";
  auto& rates = profile.rate_rps;
  const double low = std::max(trough_rps, 1e-3 * peak_rps);
  const double pace = std::pow(std::max(growth, 1.01), 1 / std::max(horizon_s, 1.0));
  const auto hold = static_cast<std::size_t>(std::clamp(2 * horizon_s, 120.0, 3600.0));
  rates.assign(hold, low);
  for (double rate = low * pace; rate < peak_rps; rate *= pace) rates.push_back(rate);
  const std::size_t up = rates.size();
  rates.insert(rates.end(), hold, peak_rps);
  for (std::size_t i = up; i > hold; --i) rates.push_back(rates[i - 1]);
  rates.insert(rates.end(), hold, low);
  return profile;
}

base::Result<SurgeOutcome> survive_surges(const ContestRules& rules, const Contender& contender,
                                          double growth, int runs) {
  constexpr double kZ = 1.96;
  const int n = contender.bounds.minimum;
  const double line = contender.utilisation * rules.throughput_rps * n;
  Profile profile;
  profile.name = "surge";
  const auto horizon = static_cast<std::size_t>(std::clamp(rules.horizon_s, 30.0, 7200.0));
  profile.rate_rps.assign(60, line);
  for (std::size_t s = 0; s < horizon; ++s)
    profile.rate_rps.push_back(
        line * (1 + (growth - 1) * static_cast<double>(s + 1) / static_cast<double>(horizon)));
  profile.rate_rps.insert(profile.rate_rps.end(), horizon, line * growth);
  // The surge is what is asked about, not whether the planned maximum would do for it.
  Contender free = contender;
  free.bounds.maximum = std::max(free.bounds.maximum, 2 * ceil_up(n * growth));
  SurgeOutcome outcome;
  std::uint64_t offered = 0, shed = 0;
  for (int run = 0; run < runs; ++run) {
    SimSetup setup = make_setup(rules, free, 0);
    setup.initial = n;
    setup.seed = rules.seed + static_cast<std::uint64_t>(run);
    auto arrivals = poisson(profile, 1000 + setup.seed);
    auto scaler = make_scaler(rules, free);
    const auto result = simulate(setup, *arrivals, *scaler);
    if (!result) return tl::unexpected(result.error());
    offered += result->offered;
    shed += result->offered - result->good;
    ++outcome.runs;
    if (result->share_within_slo().value_or(1) >= kGoodShare) ++outcome.held;
  }
  outcome.mean_shed = share(shed, offered);
  const double k = outcome.runs, p = outcome.held / k;
  const double middle = (p + kZ * kZ / (2 * k)) / (1 + kZ * kZ / k);
  const double half = kZ / (1 + kZ * kZ / k) * std::sqrt(p * (1 - p) / k + kZ * kZ / (4 * k * k));
  outcome.low = std::max(0.0, middle - half);
  outcome.high = std::min(1.0, middle + half);
  return outcome;
}

}  // namespace headroom::capacity
