// The checks, their artifact and the verdict.
#include "bench/validate.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "bench/deployed.hpp"

namespace headroom::bench {
namespace {

using base::Result;

// T_total as it was measured: the artifact that the plan names, else the one beside the plan.
Result<double> total_of(Session& session, const artifact::PlanArtifact& plan) {
  auto measured = artifact::read_ttotal(plan.ttotal_file);
  if (!measured) measured = artifact::read_ttotal(session.folder() + "/ttotal.json");
  if (measured && measured->total_s) return *measured->total_s;
  if (plan.plan.reaction_time_s) return *plan.plan.reaction_time_s;
  return base::fail(
      base::ErrorCode::kNotFound,
      fmt::format("T_total is unknown: neither {} nor {}/ttotal.json can be read; run tts-bench ttotal",
                  plan.ttotal_file, session.folder()));
}

constexpr const char* kInconclusiveLevel = "INCONCLUSIVE";

std::string verdict_of(const std::vector<Check>& checks) {
  if (has_level(checks, "ERROR")) return "different";
  return has_level(checks, kInconclusiveLevel) ? "inconclusive" : "valid";
}

Result<artifact::ValidateArtifact> validate(const ValidateOptions& options, Session& session,
                                            Result<void>& restored) {
  artifact::ValidateArtifact out;
  out.plan_file = plan_path(session, options.plan_file);
  auto plan = artifact::read_plan(out.plan_file);
  if (!plan) return tl::unexpected(plan.error());
  if (auto there = describe_named_endpoint(session); !there) return tl::unexpected(there.error());
  auto live = read_live(session, plan->transport, plan->header.fingerprint.workload_hash.value_or(""));
  if (!live) return tl::unexpected(live.error());
  auto deployed = read_deployed(session);
  if (!deployed) return tl::unexpected(deployed.error());
  out.checks = validate_checks(*plan, *live, *deployed, commands_for(session, options.plan_file));
  if (options.live.live) {
    const auto total = total_of(session, *plan);
    if (!total) return tl::unexpected(total.error());
    const auto phases = run_live_phases(session, *plan, *live, *total, options.live);
    if (!phases) return tl::unexpected(phases.error());
    append(out.checks, phases->checks);
    restored = phases->restored;
  }
  out.verdict = verdict_of(out.checks);
  out.header = session.header(live->fingerprint);
  if (!restored) out.header.notes.push_back("validated, but " + restored.error().message);
  return out;
}

}  // namespace

std::vector<Check> validate_checks(const artifact::PlanArtifact& artifact, const LiveEndpoint& live,
                                   const Deployed& deployed, const Commands& commands) {
  const capacity::Plan& plan = artifact.plan;
  std::vector<Check> out;
  append(out, compare_fingerprint(artifact.header.fingerprint, live.fingerprint, "ERROR"));
  append(out,
         compare_counts(live.endpoint, deployed.variant, plan.min_instances, plan.max_instances, commands));
  append(out, compare_target(deployed.target, plan.min_instances, plan.max_instances, commands));
  append(out, compare_suspended(deployed.target, commands));
  append(out, compare_policies(plan.policy, deployed, commands, "ERROR"));
  out.push_back(compare_queue_limit(live.queue_limit, !live.model.name.empty(), plan.queue_limit, commands));
  return out;
}

std::vector<base::Option> ValidateOptions::table() {
  std::vector<base::Option> all{
      {.name = "plan", .help = "the plan to compare with; default: plan.json of --out", .target = &plan_file},
      {.name = "live",
       .help = "check under load too: five phases that make the policy scale",
       .target = &live.live},
      {.name = "force", .help = "with --live: go on in spite of drift", .target = &live.force},
      {.name = "dry-run",
       .help = "with --live: print the phases and their cost, send nothing",
       .target = &live.dry_run},
      {.name = "resume", .help = "with --live: skip the phases that passed", .target = &live.resume},
      {.name = "phases",
       .help = "with --live: only these, of slo_under_load, rejection_level, scale_out, surge_absorption, "
               "scale_in",
       .target = &live.phases,
       .value_name = "NAMES"},
      {.name = "fast",
       .help = "with --live: the --fast of a local cloud, whose periods and cooldowns are so much shorter",
       .target = &live.fast,
       .min = 1,
       .max = 1000},
  };
  for (base::Option& option : live.load.table()) {
    if (option.name != "records" && option.name != "cancel-share") all.push_back(std::move(option));
  }
  return all;
}

namespace {

std::string verdict_sentence(const Session& session, const artifact::ValidateArtifact& found,
                             const std::string& file) {
  const auto count = [&](const std::string& level) {
    return std::count_if(found.checks.begin(), found.checks.end(),
                         [&](const Check& check) { return check.level == level; });
  };
  if (found.verdict == "different")
    return fmt::format("different: {} difference(s) between '{}' and {} ({})", count("ERROR"),
                       session.endpoint(), found.plan_file, file);
  if (found.verdict == "inconclusive")
    return fmt::format("inconclusive: {} phase(s) on '{}' could not be judged; run them again ({})",
                       count(kInconclusiveLevel), session.endpoint(), file);
  return fmt::format("valid: '{}' is as {} holds ({})", session.endpoint(), found.plan_file, file);
}

int verdict_code(const std::string& verdict) {
  if (verdict == "different") return base::kExitNegative;
  return verdict == "inconclusive" ? base::kExitInconclusive : base::kExitGood;
}

// No network: the plan and T_total say it all.
int dry_run(const ValidateOptions& options, Session& session) {
  const auto told = [&](const base::Error& error) {
    session.complain("tts-bench validate: " + base::describe(error));
    return base::error_row(error.code).exit_code;
  };
  const auto plan = artifact::read_plan(plan_path(session, options.plan_file));
  if (!plan) return told(plan.error());
  const auto total = total_of(session, *plan);
  if (!total) return told(total.error());
  const auto live = plan_live(plan->plan, *total);
  if (!live) return told(live.error());
  session.say(live_schedule(*live, options.live.fast));
  return base::kExitGood;
}

}  // namespace

int run_validate(const ValidateOptions& options, Session& session) {
  if (options.live.live && options.live.dry_run) return dry_run(options, session);
  const auto fail = [&](const base::Error& error) {
    session.complain("tts-bench validate: " + base::describe(error));
    return base::error_row(error.code).exit_code;
  };
  Result<void> restored;
  const auto found = validate(options, session, restored);
  if (!found) return fail(found.error());
  const auto text = artifact::to_json_text(*found);
  const std::string file = session.folder() + "/validate.json";
  if (auto written = artifact::write_artifact_text(file, text); !written) {
    if (!restored) session.complain(base::describe(restored.error()));
    return fail(written.error());
  }
  if (session.options().json) std::puts(text->c_str());
  print_checks(session, found->checks, verdict_sentence(session, *found, file));
  if (restored) return verdict_code(found->verdict);
  (void)fail(restored.error());
  return base::kExitFailed;
}

}  // namespace headroom::bench
