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

Result<artifact::ValidateArtifact> validate(const ValidateOptions& options, Session& session) {
  if (options.live) {
    return base::fail(
        base::ErrorCode::kUnsupported,
        "--live is not offered yet; without it, validate compares what is deployed with the plan");
  }
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
  out.verdict = has_level(out.checks, "ERROR") ? "different" : "valid";
  out.header = session.header(live->fingerprint);
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
  return {
      {.name = "plan", .help = "the plan to compare with; default: plan.json of --out", .target = &plan_file},
      {.name = "live", .help = "check under load too (not offered yet)", .target = &live},
  };
}

int run_validate(const ValidateOptions& options, Session& session) {
  const auto fail = [&](const base::Error& error) {
    session.complain("tts-bench validate: " + base::describe(error));
    return base::error_row(error.code).exit_code;
  };
  const auto found = validate(options, session);
  if (!found) return fail(found.error());
  const auto text = artifact::to_json_text(*found);
  const std::string file = session.folder() + "/validate.json";
  if (auto written = artifact::write_artifact_text(file, text); !written) return fail(written.error());
  if (session.options().json) std::puts(text->c_str());
  const auto differences = std::count_if(found->checks.begin(), found->checks.end(),
                                         [](const Check& check) { return check.level == "ERROR"; });
  const bool valid = differences == 0;
  print_checks(
      session, found->checks,
      valid ? fmt::format("valid: '{}' is as {} holds ({})", session.endpoint(), found->plan_file, file)
            : fmt::format("different: {} difference(s) between '{}' and {} ({})", differences,
                          session.endpoint(), found->plan_file, file));
  return valid ? base::kExitGood : base::kExitNegative;
}

}  // namespace headroom::bench
