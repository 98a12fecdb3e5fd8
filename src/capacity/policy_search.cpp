// A grid over utilisation and scale-in share; the dearest utilisations are tried only as far as needed.
#include "capacity/policy_search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity {
namespace {

constexpr double kGoodShare = 0.999;

struct Tried {
  double hours = 0, worst = 1;
  std::optional<double> vs_clairvoyant;
};

base::Result<Tried> try_policy(const PlanInput& input, ContestRules rules, const ContestLoad& load,
                               int seeds) {
  const auto plan = detail::plan_recommended(input);
  if (!plan) return tl::unexpected(plan.error());
  Contender contender;
  contender.policy = plan->policy;
  contender.bounds = {plan->min_instances, plan->max_instances, false, false};
  contender.utilisation = plan->utilisation;
  Tried tried;
  const std::uint64_t first = rules.seed;
  for (int i = 0; i < seeds; ++i) {
    rules.seed = first + static_cast<std::uint64_t>(i);
    const auto row = compete(rules, load, contender);
    if (!row) return tl::unexpected(row.error());
    tried.hours += row->instance_hours / seeds;
    tried.worst = std::min(tried.worst, row->share_within_slo.value_or(1));
    if (row->vs_clairvoyant)
      tried.vs_clairvoyant = tried.vs_clairvoyant.value_or(0) + *row->vs_clairvoyant / seeds;
    if (tried.worst < kGoodShare) break;  // the others cannot save it
  }
  return tried;
}

}  // namespace

base::Result<SearchedPolicy> search_policy(const PlanInput& input, const ContestRules& rules,
                                           const ContestLoad& load, int seeds) {
  std::optional<SearchedPolicy> best;
  int candidates = 0;
  PlanInput candidate = input;
  candidate.rule = Rule::kRecommended;
  for (int percent = 95; percent >= 30; percent -= 5) {
    candidate.utilisation = percent / 100.0;
    bool held = false;
    for (const double share : {0.95, 0.9, 0.8}) {
      candidate.scale_in_share = share;
      const auto tried = try_policy(candidate, rules, load, seeds);
      if (!tried) return tl::unexpected(tried.error());
      ++candidates;
      if (tried->worst < kGoodShare) continue;
      held = true;
      if (!best || tried->hours < best->instance_hours)
        best = SearchedPolicy{*candidate.utilisation, share, tried->hours, tried->worst,
                              tried->vs_clairvoyant,  0};
    }
    if (held && best && *candidate.utilisation < best->utilisation - 0.09) break;  // only dearer from here
  }
  if (!best)
    return base::fail(
        base::ErrorCode::kRefused,
        fmt::format("no policy keeps {} within the SLO: even at 30 % utilisation over 0.1 % are late or "
                    "refused; a static fleet at the peak, or a faster start, is what helps",
                    load.name));
  best->candidates = candidates;
  return *best;
}

}  // namespace headroom::capacity
