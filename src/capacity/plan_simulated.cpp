// What a plan knows only by simulating: its alternatives side by side under the planned load, and surges.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "capacity/contest.hpp"
#include "capacity/plan_rules.hpp"

namespace headroom::capacity::detail {
namespace {

constexpr double kMostArrivals = 3e6;       // about half a second
constexpr double kMostComparisons = 1.5e8;  // arrivals x instances that each looks at
constexpr double kMostRecorded = 20;
constexpr int kSurges = 40;
constexpr double kSurgeRequests = 1e6;  // in all

const Contender* named(const std::vector<Contender>& all, const std::string& name) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Contender& c) { return c.name == name; });
  return it == all.end() ? nullptr : &*it;
}

double horizon(const PlanInput& input, const Plan& plan) {
  return plan.reaction_time_s.value_or(*input.total_s);
}

}  // namespace

void add_simulation(const PlanInput& input, Plan& plan) {
  auto rules = contest_rules(input);
  if (!rules) return;  // make_plan has said why
  rules->horizon_s = horizon(input, plan);
  const double growth = std::min(input.headroom, kMostGrowth);
  const bool given = input.simulated_load != nullptr;
  const ContestLoad load =
      given ? *input.simulated_load
            : contest_load(planned_load(input.trough_rps, input.peak_rps, growth, rules->horizon_s));
  const double arrivals = std::accumulate(load.per_second.begin(), load.per_second.end(), 0.0);
  const double fleet = input.peak_rps / rules->throughput_rps;
  const double most = given ? kMostRecorded : 1;  // who gives a load wants it simulated
  if (arrivals > most * kMostArrivals || arrivals * fleet > most * kMostComparisons) {
    for (Alternative& a : plan.alternatives) {
      if (a.min_instances)
        a.note = fmt::format(
            "not simulated: {:.2g} requests are too many for a plan; tts-bench simulate does it", arrivals);
    }
    return;
  }
  plan.simulated_hours = static_cast<double>(load.per_second.size()) / 3600;
  const double minutes = static_cast<double>(load.per_second.size()) / 60;
  plan.simulated_load =
      given
          ? fmt::format("{} ({:.0f} min, recorded)", load.name, minutes)
          : fmt::format("{:.0f} min: {:g} requests/s, up to {:g} by x{:.3g} in each {:.0f} s, and down again",
                        minutes, input.trough_rps, input.peak_rps, growth, rules->horizon_s);
  const auto all = contenders(input, std::nullopt, false);
  for (Alternative& a : plan.alternatives) {
    if (!a.min_instances) continue;  // no plan came out: its note says why
    const Contender* contender = named(all, a.name);
    if (contender == nullptr) continue;
    const auto row = compete(*rules, load, *contender);
    if (!row) {
      a.note = row.error().message;
      continue;
    }
    a.share_within_slo = row->share_within_slo;
    a.instance_hours = row->instance_hours;
    a.turns_per_hour = row->turns_per_hour;
    a.note.clear();
  }
}

Finding surge_survival(const PlanInput& input, const Plan& plan) {
  if (!input.simulate)
    return {"surge_survival", Level::kInfo, "not simulated: the share shed in a surge is unknown", ""};
  const auto rules = contest_rules(input);
  if (!rules) return {"surge_survival", Level::kInfo, "unknown: " + rules.error().message, ""};
  ContestRules own = *rules;
  own.horizon_s = horizon(input, plan);
  Contender contender;
  contender.policy = plan.policy;
  contender.bounds = {plan.min_instances, plan.max_instances, false, false};
  contender.utilisation = std::max(0.05, plan.utilisation);
  const double growth = std::clamp(input.headroom, 1.05, kMostGrowth);
  const double requests =
      2 * growth * own.horizon_s * plan.min_instances * own.throughput_rps * contender.utilisation;
  if (5 * requests * plan.min_instances > 1.5e9)
    return {"surge_survival", Level::kInfo,
            fmt::format("not simulated: a surge of {:.2g} requests on {} instances is too large for a plan",
                        requests, plan.min_instances),
            ""};
  const int runs =
      static_cast<int>(std::clamp(kSurgeRequests / std::max(requests, 1.0), 5.0, double{kSurges}));
  const auto outcome = survive_surges(own, contender, growth, runs);
  if (!outcome) return {"surge_survival", Level::kInfo, "unknown: " + outcome.error().message, ""};
  const std::string evidence = fmt::format(
      "of {} simulated surges by x{:.3g} within {:.0f} s, from the load at the scale-out line, {} kept 99.9 "
      "% within "
      "the SLO ({:.0f} to {:.0f} % would, at 95 % confidence); {:.2g} % of the requests were refused or late",
      outcome->runs, growth, own.horizon_s, outcome->held, 100 * outcome->low, 100 * outcome->high,
      100 * outcome->mean_shed.value_or(0));
  if (outcome->held * 20 >= outcome->runs * 19) return {"surge_survival", Level::kOk, evidence, ""};
  return {"surge_survival", Level::kWarn, evidence,
          plan.rule == Rule::kPublished ? "plan with --rule recommended"
          : plan.policy.carrier == Carrier::kNative
              ? "plan with --carrier offered-rate, more --headroom, or a higher minimum"
              : "plan with more --headroom, or a higher minimum"};
}

}  // namespace headroom::capacity::detail
