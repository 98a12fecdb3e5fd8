// Reads both sides, compares what decides.
#include "bench/compare.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error_table.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;

constexpr double kTotalsDiffer = 0.25;

template <class T>
std::string text_of(const std::optional<T>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : std::string("unknown");
}

std::string interval_text(const std::optional<capacity::Interval>& interval) {
  return interval ? fmt::format("{:g} to {:g}", interval->low, interval->high) : std::string("unknown");
}

void add(Comparison& c, std::string what, std::string left, std::string right) {
  const bool differs = left != right;
  c.lines.push_back({std::move(what), std::move(left), std::move(right), differs});
}

Comparison compare_qmax(const artifact::QmaxArtifact& a, const artifact::QmaxArtifact& b) {
  Comparison c;
  c.kind = "qmax";
  add(c, "Q_max", text_of(a.result.q_max, "{}"), text_of(b.result.q_max, "{}"));
  add(c, "interval", interval_text(a.result.q_max_interval), interval_text(b.result.q_max_interval));
  add(c, "SLO ms", fmt::format("{:g}", a.slo_ms), fmt::format("{:g}", b.slo_ms));
  add(c, "knee", text_of(a.knee_n, "{}"), text_of(b.knee_n, "{}"));
  add(c, "unqueued mean ms", text_of(a.unqueued.mean_ms, "{:.1f}"), text_of(b.unqueued.mean_ms, "{:.1f}"));
  add(c, "unqueued p95 ms", text_of(a.unqueued.p95_ms, "{:.1f}"), text_of(b.unqueued.p95_ms, "{:.1f}"));
  std::map<int, std::pair<std::optional<double>, std::optional<double>>> curve;
  for (const auto& rung : capacity::last_holds(a.rungs)) {
    if (!rung.repeat) curve[rung.n].first = rung.p95_ms;
  }
  for (const auto& rung : capacity::last_holds(b.rungs)) {
    if (!rung.repeat) curve[rung.n].second = rung.p95_ms;
  }
  for (const auto& [n, p95] : curve) {
    std::string right = text_of(p95.second, "{:.1f}");
    if (p95.first && *p95.first > 0 && p95.second)
      right += fmt::format(" (x{:.3f})", *p95.second / *p95.first);
    c.lines.push_back(
        {fmt::format("p95 ms at {}", n), text_of(p95.first, "{:.1f}"), std::move(right), false});
  }
  const auto &left = a.result.q_max_interval, &right = b.result.q_max_interval;
  if (left && right) {
    c.different = left->high < right->low || right->high < left->low;
    c.verdict = c.different ? "the intervals of Q_max do not overlap: they are not the same instance"
                            : "the intervals of Q_max overlap: nothing says that they differ";
  } else {
    c.different = a.result.q_max != b.result.q_max;
    c.verdict = "without both intervals only Q_max itself can be compared";
  }
  return c;
}

Comparison compare_ttotal(const artifact::TtotalArtifact& a, const artifact::TtotalArtifact& b) {
  Comparison c;
  c.kind = "ttotal";
  add(c, "T_m s", text_of(a.measured_total_s, "{:.1f}"), text_of(b.measured_total_s, "{:.1f}"));
  add(c, "lag s", text_of(a.policy_lag_bound_s, "{:.1f}"), text_of(b.policy_lag_bound_s, "{:.1f}"));
  add(c, "T_total s", text_of(a.total_s, "{:.1f}"), text_of(b.total_s, "{:.1f}"));
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> stages;
  for (const auto& stage : a.stages.measured) stages[stage.to].first = stage.s;
  for (const auto& stage : b.stages.measured) stages[stage.to].second = stage.s;
  for (const auto& [name, s] : stages)
    add(c, name + " s", text_of(s.first, "{:.1f}"), text_of(s.second, "{:.1f}"));
  if (!a.measured_total_s || !b.measured_total_s || !(*a.measured_total_s > 0)) {
    c.verdict = "T_m is unknown on one side at least";
    c.different = a.measured_total_s.has_value() != b.measured_total_s.has_value();
    return c;
  }
  c.different = std::abs(*b.measured_total_s - *a.measured_total_s) > kTotalsDiffer * *a.measured_total_s;
  c.verdict = fmt::format("T_m is x{:.3f}", *b.measured_total_s / *a.measured_total_s);
  return c;
}

Comparison compare_plans(const capacity::Plan& a, const capacity::Plan& b) {
  Comparison c;
  c.kind = "plan";
  const auto name = [](std::string_view text) { return std::string(text); };
  add(c, "rule", name(capacity::rule_name(a.rule)), name(capacity::rule_name(b.rule)));
  add(c, "metric", capacity::carrier_name(a.policy.carrier), capacity::carrier_name(b.policy.carrier));
  add(c, "verdict", name(capacity::verdict_name(a.verdict)), name(capacity::verdict_name(b.verdict)));
  add(c, "scale out above", text_of(a.scale_out_target, "{:g}"), text_of(b.scale_out_target, "{:g}"));
  add(c, "scale in below", text_of(a.scale_in_threshold, "{:g}"), text_of(b.scale_in_threshold, "{:g}"));
  add(c, "queue limit", fmt::format("{}", a.queue_limit), fmt::format("{}", b.queue_limit));
  add(c, "minimum", fmt::format("{}", a.min_instances), fmt::format("{}", b.min_instances));
  add(c, "maximum", fmt::format("{}", a.max_instances), fmt::format("{}", b.max_instances));
  add(c, "cooldown out s", fmt::format("{}", a.scale_out_cooldown_s),
      fmt::format("{}", b.scale_out_cooldown_s));
  add(c, "cooldown in s", fmt::format("{}", a.scale_in_cooldown_s), fmt::format("{}", b.scale_in_cooldown_s));
  add(c, "utilisation", fmt::format("{:g}", a.utilisation), fmt::format("{:g}", b.utilisation));
  for (const auto& line : c.lines) c.different = c.different || line.differs;
  c.verdict = c.different ? "the plans differ" : "the plans are the same";
  return c;
}

}  // namespace

base::Result<Comparison> compare_artifacts(const std::string& left, const std::string& right) {
  const auto finish = [](Comparison c, const artifact::Header& a, const artifact::Header& b) {
    c.conditions = artifact::differences(a.fingerprint, b.fingerprint);
    return c;
  };
  if (const auto a = artifact::read_qmax(left)) {
    const auto b = artifact::read_qmax(right);
    if (!b) return tl::unexpected(b.error());
    return finish(compare_qmax(*a, *b), a->header, b->header);
  }
  if (const auto a = artifact::read_ttotal(left)) {
    const auto b = artifact::read_ttotal(right);
    if (!b) return tl::unexpected(b.error());
    return finish(compare_ttotal(*a, *b), a->header, b->header);
  }
  const auto a = artifact::read_plan(left);
  if (!a)
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("{} is no qmax, ttotal or plan artifact that can be read: {}", left, a.error().message));
  const auto b = artifact::read_plan(right);
  if (!b) return tl::unexpected(b.error());
  return finish(compare_plans(a->plan, b->plan), a->header, b->header);
}

std::vector<base::Option> CompareOptions::table() {
  return {{.name = "left", .help = "an artifact", .target = &left, .value_name = "FILE"},
          {.name = "right", .help = "another of the same kind", .target = &right, .value_name = "FILE"}};
}

int run_compare(const CompareOptions& options, const PlanContext& context, const Print& print,
                const Print& complain) {
  if (options.left.empty() || options.right.empty()) {
    complain("tts-bench compare: name both artifacts: --left FILE --right FILE\n");
    return base::kExitUsage;
  }
  const auto c = compare_artifacts(options.left, options.right);
  if (!c) {
    complain("tts-bench compare: " + base::describe(c.error()) + "\n");
    return base::error_row(c.error().code).exit_code;
  }
  std::string out = fmt::format("{}\n  left   {}\n  right  {}\n\n", c->kind, options.left, options.right);
  for (const auto& line : c->lines)
    out +=
        fmt::format("{} {:<24} {:>22} {:>22}\n", line.differs ? "*" : " ", line.what, line.left, line.right);
  for (const std::string& condition : c->conditions) out += "\n  not measured alike: " + condition;
  out += "\n  " + c->verdict + "\n";
  if (!context.quiet) print(out);
  return c->different ? base::kExitNegative : base::kExitGood;
}

}  // namespace headroom::bench
