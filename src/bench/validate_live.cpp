// The phases, one after another, and the way back.
#include "bench/validate_live.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "bench/checks.hpp"
#include "bench/drift_gate.hpp"
#include "bench/freeze.hpp"
#include "bench/live_loads.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using Json = nlohmann::json;

constexpr std::int64_t kOldestPassS = 24 * 3600;       // that --resume counts
constexpr double kLeastGapS = 10, kAlarmPeriodS = 60;  // of missing readings

class LiveRun {
 public:
  LiveRun(Session& session, const artifact::PlanArtifact& artifact, std::string config_name,
          const LivePlan& plan, const LiveOptions& options)
      : session_(session),
        artifact_(artifact),
        config_name_(std::move(config_name)),
        plan_(plan),
        options_(options),
        loads_(session, options.load),
        partial_(session.folder() + "/validate.partial.json") {}

  Result<std::vector<artifact::Check>> run() {
    if (options_.resume) read_passed();
    using Phase = Result<PhaseResult> (LiveRun::*)();
    const std::vector<std::pair<const char*, Phase>> phases{{"slo_under_load", &LiveRun::slo_under_load},
                                                            {"rejection_level", &LiveRun::rejection_level},
                                                            {"scale_out", &LiveRun::scale_out},
                                                            {"surge_absorption", &LiveRun::surge_absorption},
                                                            {"scale_in", &LiveRun::scale_in}};
    std::vector<artifact::Check> checks;
    bool whole = true;
    for (const auto& [name, phase] : phases) {
      if (!wanted(name)) continue;
      if (std::find(passed_.begin(), passed_.end(), name) != passed_.end()) {
        checks.push_back({fmt::format("live.{}", name), "OK", "passed before the interruption", "", ""});
        continue;
      }
      session_.say(fmt::format("{} ...", name));
      const auto result = (this->*phase)();
      if (!result) return tl::unexpected(result.error());
      checks.push_back({"live." + result->id, level_of(result->verdict), result->found, result->wanted,
                        result->passed() ? "" : result->remedy});
      session_.say(fmt::format("{}: {} ({})", name, said(result->verdict), result->found));
      if (result->passed()) remember(name);
      if (result->verdict == PhaseVerdict::kInconclusive) whole = false;
    }
    // What could not be judged is to be run again, and --resume then goes on from here.
    if (whole) ::unlink(partial_.c_str());
    return checks;
  }

 private:
  bool wanted(const std::string& name) const {
    return options_.phases.empty() ||
           ("," + options_.phases + ",").find("," + name + ",") != std::string::npos;
  }
  double scaled(double s) const { return s / options_.fast; }

  static const char* said(PhaseVerdict verdict) {
    return verdict == PhaseVerdict::kPassed   ? "passed"
           : verdict == PhaseVerdict::kFailed ? "FAILED"
                                              : "inconclusive";
  }

  // How long readings may be missing on end: less than the fleet takes for a step.
  double longest_gap_s() const { return std::max(kLeastGapS, scaled(kAlarmPeriodS)); }

  Result<PhaseResult> slo_under_load() {
    PhaseResult out;
    out.id = "slo_under_load";
    const double slo = artifact_.plan.slo_ms;
    out.wanted =
        fmt::format("p95 of the first audio within {:g} ms at 80 % of the line, nothing refused", slo);
    out.remedy = "measure Q_max again (tts-bench qmax) and plan anew";
    // At least long enough for what an instance needs to answer a few requests, whatever the metrics' clock.
    const auto held = loads_.hold(plan_.calm, 2, std::max(10.0, scaled(plan_.calm_s)));
    if (!held) return tl::unexpected(held.error());
    const load::WindowView& view = held->view;
    const bool good = view.ttfab_ms && view.ttfab_ms->p95 <= slo && held->bad() + view.rejected == 0;
    out.pass_if(good);
    out.found = view.ttfab_ms
                    ? fmt::format("p95 {:.0f} ms of {} requests, {} refused, failed or without an end",
                                  view.ttfab_ms->p95, view.ok, held->bad() + view.rejected)
                    : "no successful request";
    // Open loop: a driver that is late adds to the latency and one that drops is bad, so good is good.
    if (good && plan_.calm.outstanding == 0) return out;
    return unless_client_bound(std::move(out), held->client_bound);
  }

  // Shorter than the alarm's three periods, so that the fleet does not grow under it.
  Result<PhaseResult> rejection_level() {
    PhaseResult out;
    out.id = "rejection_level";
    out.wanted = fmt::format("none refused at {} outstanding, some 503 at {}, nothing else",
                             plan_.below_limit, plan_.above_limit);
    out.remedy = fmt::format("set MAX_QUEUE_DEPTH={} in the container's environment and deploy",
                             artifact_.plan.queue_limit);
    if (plan_.below_limit == 0) {
      out.pass_if(true);
      out.found = "the plan has no queue limit";
      return out;
    }
    // The driver brings 50 requests a second in; then two seconds at the level.
    const double shortly = std::min(12.0, 2 + 0.02 * plan_.above_limit);
    // Above first: it is over before an alarm can ring. Below then meets a fleet at its minimum again.
    const auto above = loads_.hold({plan_.above_limit, 0}, 0, shortly);
    if (!above) return tl::unexpected(above.error());
    if (above->view.rejected == 0) {
      out.found =
          fmt::format("none refused at {} outstanding, {} answered", plan_.above_limit, above->view.ok);
      return unless_client_bound(std::move(out), above->client_bound);
    }
    auto stuck = unsettled(out, "the lower level");
    if (!stuck) return tl::unexpected(stuck.error());
    if (*stuck) return std::move(**stuck);
    const auto below = loads_.hold({plan_.below_limit, 0}, 0, shortly);
    if (!below) return tl::unexpected(below.error());
    const auto wrong = below->bad() + above->bad();
    // A rejection is a 503 of the container, over whatever transport it comes.
    out.pass_if(below->view.rejected == 0 && above->view.rejected > 0 && wrong == 0);
    out.found = fmt::format("{} refused below; above {} refused, {} answered; {} other failures",
                            below->view.rejected, above->view.rejected, above->view.ok, wrong);
    // Above some were refused, which is all that was asked of that level.
    return unless_client_bound(std::move(out), below->client_bound);
  }

  // nullopt: what was before has no effect any more and the fleet is at its minimum. Else the phase, which
  // cannot go on to `next`.
  Result<std::optional<PhaseResult>> unsettled(PhaseResult phase, const std::string& next) {
    const auto at_minimum = [&](const auto& p) {
      return !p.empty() && p.back().desired == plan_.start && p.back().in_service == plan_.start;
    };
    const auto course = loads_.watch(longest(plan_.scale_in_s), at_minimum);
    if (!course) return tl::unexpected(course.error());
    if (at_minimum(course->points)) return std::nullopt;
    phase.found = "the fleet did not come back to its minimum before " + next;
    return unless_unread(std::move(phase), *course, longest_gap_s());
  }

  Result<PhaseResult> scale_out() {
    const PhaseResult nothing = judge_scale_out(in_real_time(), {});
    auto stuck = unsettled(nothing, "the phase");
    if (!stuck) return tl::unexpected(stuck.error());
    if (*stuck) return std::move(**stuck);
    if (plan_.quiet) {
      const auto calm = loads_.watch_under(*plan_.quiet, scaled(plan_.quiet_s),
                                           [&](const auto& p) { return p.back().desired > plan_.start; });
      if (!calm) return tl::unexpected(calm.error());
      // Neither a driver that was short of its load nor a reading that failed can have asked for instances.
      if (auto wrong = judge_quiet(in_real_time(), calm->course.points)) return grown_by(std::move(*wrong));
      auto unread = unless_unread(nothing, calm->course, longest_gap_s());
      if (unread.verdict == PhaseVerdict::kInconclusive) return unread;
    }
    const auto seen = loads_.watch_under(plan_.cross, longest(plan_.arrive_s),
                                         [&](const auto& p) { return p.back().in_service > plan_.start; });
    if (!seen) return tl::unexpected(seen.error());
    return grown_by(judged_under(judge_scale_out(in_real_time(), seen->course.points), *seen));
  }

  Result<PhaseResult> surge_absorption() {
    const auto seen = loads_.watch_under(plan_.surge, longest(plan_.surge_s), [&](const auto& p) {
      return p.back().in_service >= plan_.surge_count;
    });
    if (!seen) return tl::unexpected(seen.error());
    const int maximum = artifact_.plan.max_instances;
    auto judged = judge_surge(in_real_time(), seen->course.points, maximum);
    const bool beyond = std::any_of(seen->course.points.begin(), seen->course.points.end(),
                                    [&](const FleetPoint& p) { return p.desired > maximum; });
    return grown_by(beyond ? std::move(judged) : judged_under(std::move(judged), *seen));
  }

  // A phase that lets the fleet grow and could be judged.
  PhaseResult grown_by(PhaseResult judged) {
    growth_judged_ = growth_judged_ || judged.verdict != PhaseVerdict::kInconclusive;
    return judged;
  }

  // What the fleet did in spite of a driver that was short of its load stands; what it did not do may be the
  // driver's fault.
  PhaseResult judged_under(PhaseResult judged, const LiveLoads::Watched& seen) const {
    judged = unless_unread(std::move(judged), seen.course, longest_gap_s());
    return judged.passed() ? judged : unless_client_bound(std::move(judged), seen.client_bound);
  }

  Result<PhaseResult> scale_in() {
    const auto course = loads_.watch(longest(plan_.scale_in_s), [&](const auto& p) {
      return p.back().desired <= plan_.start && p.back().in_service <= plan_.start;
    });
    if (!course) return tl::unexpected(course.error());
    const double resolution_s = std::max({2 * LiveLoads::kReadingS, scaled(20), course->longest_gap_s});
    auto judged = judge_scale_in(in_real_time(), course->points, resolution_s);
    if (!growth_judged_) judged = unless_never_grown(std::move(judged), plan_, course->points);
    return unless_unread(std::move(judged), *course, longest_gap_s());
  }

  // A start takes its own time, however fast the cloud's clock runs.
  double longest(double s) const { return options_.fast > 1 ? scaled(s) + kStartSlackS : s; }
  LivePlan in_real_time() const {
    LivePlan plan = plan_;
    plan.arrive_s = longest(plan_.arrive_s);
    plan.surge_s = longest(plan_.surge_s);
    plan.first_in_s = longest(plan_.first_in_s);
    plan.each_in_s = scaled(plan_.each_in_s) + 1;
    plan.late_out_s = scaled(plan_.late_out_s) + 1;
    plan.step_s = scaled(plan_.step_s);
    return plan;
  }
  static constexpr double kStartSlackS = 20;

  std::int64_t epoch_s() const {
    return std::chrono::duration_cast<std::chrono::seconds>(session_.clock().wall().time_since_epoch())
        .count();
  }
  void read_passed() {
    const auto text = base::read_file(partial_);
    const auto j = text ? Json::parse(*text, nullptr, false) : Json();
    if (!j.is_object() || j.value("plan", Json()) != Json(artifact_.header.run_id)) return;
    // Of another deployment, or from long ago, a pass says nothing.
    const auto age_s = epoch_s() - j.value("epoch_s", std::int64_t{0});
    if (j.value("endpoint_config", "") != config_name_ || age_s > kOldestPassS) return;
    for (const Json& name : j.value("passed", Json::array()))
      if (name.is_string()) passed_.push_back(name.get<std::string>());
    // Later phases start from where earlier ones leave the fleet.
    if (std::find(passed_.begin(), passed_.end(), "scale_in") == passed_.end()) {
      for (const char* name : {"scale_out", "surge_absorption"})
        passed_.erase(std::remove(passed_.begin(), passed_.end(), name), passed_.end());
    }
  }
  void remember(const std::string& name) {
    passed_.push_back(name);
    const Json j{{"plan", artifact_.header.run_id},
                 {"endpoint_config", config_name_},
                 {"epoch_s", epoch_s()},
                 {"passed", passed_}};
    if (auto made = base::make_directories(session_.folder()); !made) return;
    if (auto ok = base::write_file_atomically(partial_, j.dump()); !ok)
      session_.complain("tts-bench validate: --resume will not know of this phase: " +
                        base::describe(ok.error()));
  }

  Session& session_;
  const artifact::PlanArtifact& artifact_;
  const std::string config_name_;  // of what is validated; a redeployment has another
  const LivePlan plan_;
  const LiveOptions& options_;
  LiveLoads loads_;
  const std::string partial_;
  std::vector<std::string> passed_;
  bool growth_judged_ = false;  // scale_out or surge_absorption of this run passed or failed
};

Result<void> begins_at_the_minimum(const Session& session, int instances, const LivePlan& plan) {
  if (instances == plan.start) return {};
  return fail(
      ErrorCode::kRefused,
      fmt::format("'{}' has {} instances and the plan's minimum is {}; wait until it is quiet, since the "
                  "phases begin at the minimum",
                  session.endpoint(), instances, plan.start));
}

Result<void> check_phases(const std::string& phases) {
  constexpr std::string_view kNames = ",slo_under_load,rejection_level,scale_out,surge_absorption,scale_in,";
  for (std::size_t from = 0; from < phases.size();) {
    const std::size_t to = std::min(phases.find(',', from), phases.size());
    const std::string name = phases.substr(from, to - from);
    if (name.empty() || kNames.find("," + name + ",") == std::string_view::npos)
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("--phases: no phase '{}'; there are slo_under_load, rejection_level, scale_out, "
                      "surge_absorption and scale_in",
                      name));
    from = to + 1;
  }
  return {};
}

}  // namespace

Result<LiveOutcome> run_live_phases(Session& session, const artifact::PlanArtifact& artifact,
                                    const LiveEndpoint& live, double total_s, const LiveOptions& options) {
  const auto plan = plan_live(artifact.plan, total_s);
  if (!plan) return tl::unexpected(plan.error());
  if (auto known = check_phases(options.phases); !known) return tl::unexpected(known.error());
  if (auto quiet = begins_at_the_minimum(session, live.desired, *plan); !quiet)
    return tl::unexpected(quiet.error());
  if (auto ok = stop_at_drift(session, options.force); !ok) return tl::unexpected(ok.error());
  const double total = live_seconds(*plan);
  const double hours = plan->surge_count * total / 3600;
  if (auto yes = session.consent(
          fmt::format("send load that makes the policy scale to {} instances and back, about {:.0f} min",
                      plan->surge_count, total / 60 / options.fast),
          hours / options.fast);
      !yes)
    return tl::unexpected(yes.error());
  // Two runs at once, or a qmax beside it, would each measure the other's load.
  auto claimed = Freeze::claim_as_it_is(session, live);
  if (!claimed) return tl::unexpected(claimed.error());
  // The policy may have scaled while the question waited for its answer; leaving gives the claim back.
  if (auto quiet = begins_at_the_minimum(session, claimed->standing_count(), *plan); !quiet)
    return tl::unexpected(quiet.error());
  claimed->will_change();
  auto checks = LiveRun(session, artifact, live.endpoint.config_name, *plan, options).run();
  auto restored = claimed->restore();
  if (checks) return LiveOutcome{std::move(*checks), std::move(restored)};
  if (restored) return tl::unexpected(checks.error());
  session.complain("tts-bench validate: " + base::describe(checks.error()));
  return tl::unexpected(restored.error());
}

}  // namespace headroom::bench
