// Refusals, the steps, and the wait for the counts.
#include "bench/apply.hpp"

#include <map>

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "bench/apply_steps.hpp"
#include "bench/deployed.hpp"
#include "bench/freeze.hpp"
#include "bench/quota_room.hpp"
#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::Result;

struct Situation {
  std::string plan_file;
  artifact::PlanArtifact plan;
  LiveEndpoint live;
  Deployed deployed;
  Commands commands;
};

Result<void> check_endpoint(Session& session, const Situation& now) {
  const std::string& status = now.live.endpoint.status;
  // Updating is fine: a target may be registered meanwhile, and applying twice in a row must work.
  if (status != "InService" && status != "Updating" && status != "SystemUpdating") {
    return base::fail(ErrorCode::kConflict,
                      fmt::format("endpoint '{}' is {}; apply when it is InService ({})", session.endpoint(),
                                  status, now.commands.wait()));
  }
  auto tag = read_freeze_tag(session, now.live.endpoint.arn);
  if (!tag) return tl::unexpected(tag.error());
  if (*tag) {
    return base::fail(
        ErrorCode::kConflict,
        fmt::format("run {} holds endpoint '{}' for a measurement; let it end, or restore what it "
                    "left: {}",
                    (*tag)->run_id, session.endpoint(), thaw_line(now.commands, **tag)));
  }
  auto stack = owning_stack(session, now.live.endpoint.arn, now.deployed);
  if (!stack) return tl::unexpected(stack.error());
  if (*stack) {
    return base::fail(
        ErrorCode::kRefused,
        fmt::format("the scaling of '{}' belongs to the CloudFormation stack '{}', which would undo "
                    "what apply does; deploy the plan through it: speech-infra deploy MODEL --plan {}",
                    session.endpoint(), **stack, now.plan_file));
  }
  return {};
}

Result<Situation> look(const ApplyOptions& options, Session& session) {
  Situation now;
  now.plan_file = plan_path(session, options.plan_file);
  now.commands = commands_for(session, options.plan_file);
  auto plan = artifact::read_plan(now.plan_file);
  if (!plan) return tl::unexpected(plan.error());
  now.plan = std::move(*plan);
  if (auto there = describe_named_endpoint(session); !there) return tl::unexpected(there.error());
  auto live = read_live(session, now.plan.transport, now.plan.header.fingerprint.workload_hash.value_or(""));
  if (!live) return tl::unexpected(live.error());
  now.live = std::move(*live);
  auto deployed = read_deployed(session);
  if (!deployed) return tl::unexpected(deployed.error());
  now.deployed = std::move(*deployed);
  if (auto error = plan_refusal(now.plan, now.plan_file, now.deployed, now.live.fingerprint))
    return tl::unexpected(*error);
  if (auto ok = check_endpoint(session, now); !ok) return tl::unexpected(ok.error());
  return now;
}

Result<void> do_step(Session& session, const Situation& now, const ApplyStep& step,
                     std::map<std::string, std::string>& arns) {
  switch (step.action) {
    case ApplyAction::kRegisterTarget: {
      aws::TargetChange change;
      change.resource_id = now.deployed.resource_id;
      change.min_capacity = now.plan.plan.min_instances;
      change.max_capacity = now.plan.plan.max_instances;
      return session.autoscaling().register_target(change, session.soon());
    }
    case ApplyAction::kDeletePolicy:
      return session.autoscaling().delete_policy(step.name, now.deployed.resource_id, session.soon());
    case ApplyAction::kPutPolicy:
      for (const auto& rule : all_rules(now.plan.plan.policy)) {
        if (rule.name != step.name) continue;
        auto put = session.autoscaling().put_policy(to_aws(rule, now.deployed.resource_id), session.soon());
        if (!put) return tl::unexpected(put.error());
        arns[rule.name] = put->arn;
      }
      return {};
    case ApplyAction::kPutAlarm:
      for (const auto& rule : now.plan.plan.policy.alarms) {
        if (rule.name != step.name) continue;
        const std::string arn = rule.policy.empty() ? std::string{} : arns[rule.policy];
        return session.cloudwatch().put_alarm(merged_alarm(rule, arn, now.deployed.alarm(rule.name)),
                                              session.soon());
      }
      return {};
    case ApplyAction::kDeleteAlarm:
      return session.cloudwatch().delete_alarms({step.name}, session.soon());
  }
  return {};
}

Result<void> do_steps(Session& session, const Situation& now, const std::vector<ApplyStep>& steps) {
  std::map<std::string, std::string> arns;
  for (const auto& policy : now.deployed.policies) arns[policy.name] = policy.arn;
  for (const ApplyStep& step : steps) {
    if (session.interrupt().requested())
      return base::fail(ErrorCode::kCancelled, "interrupted; run apply again to finish");
    if (auto done = do_step(session, now, step, arns); !done) return done;
    session.say(step_line(step));
  }
  return {};
}

// Application Auto Scaling brings the count within new bounds by itself, a moment later.
Result<void> wait_for_counts(const ApplyOptions& options, Session& session, const Situation& now) {
  const capacity::Plan& plan = now.plan.plan;
  const auto deadline = base::Deadline::after(session.clock(), options.wait);
  for (bool told = false;; told = true) {
    auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
    if (!endpoint) return tl::unexpected(endpoint.error());
    const auto checks =
        compare_counts(*endpoint, session.variant(), plan.min_instances, plan.max_instances, now.commands);
    if (!has_level(checks, "ERROR") || options.wait <= base::Duration::zero()) return {};
    if (deadline.passed(session.clock())) {
      return base::fail(
          ErrorCode::kTimeout,
          fmt::format("the policy is applied, but after {} {} is {}, should be {}; look at its scaling "
                      "activities: {}",
                      base::format_duration(options.wait), checks[0].id, checks[0].found, checks[0].wanted,
                      now.commands.aws("application-autoscaling describe-scaling-activities "
                                       "--service-namespace sagemaker --resource-id " +
                                       now.deployed.resource_id)));
    }
    if (!told) session.say(fmt::format("waiting until {} is {}", checks[0].id, checks[0].wanted));
    if (!session.interrupt().wait_for(std::chrono::seconds{1}))
      return base::fail(ErrorCode::kCancelled, "interrupted; the policy is applied");
  }
}

void report_surroundings(Session& session, const Situation& now) {
  const Check queue = compare_queue_limit(now.live.queue_limit, !now.live.model.name.empty(),
                                          now.plan.plan.queue_limit, now.commands);
  session.say(check_line(queue));
  for (const Check& check : compare_suspended(now.deployed.target, now.commands))
    session.say(check_line(check));
  for (const auto& policy : now.deployed.policies) {
    if (!is_own_policy(policy, now.deployed))
      session.say(fmt::format(
          "WARN   policy {}: not made by apply and left alone; it scales this variant too", policy.name));
  }
}

// Whether the bounds can be reached at all; an unreadable quota says nothing.
bool quota_allows_minimum(Session& session, const Situation& now) {
  const std::string& type = now.live.config.instance_type;
  const auto room = quota_room(session, type);
  if (!room || !*room) return true;
  const capacity::Plan& plan = now.plan.plan;
  if (!(*room)->has_room_for(plan.max_instances)) {
    session.say(fmt::format("WARN   quota: {}, the plan's maximum is {}; ask for more: {}",
                            room_text(**room, type), plan.max_instances,
                            now.commands.aws(ask_for_more(**room, plan.max_instances))));
  }
  return (*room)->has_room_for(plan.min_instances);
}

Result<void> apply(const ApplyOptions& options, Session& session) {
  auto now = look(options, session);
  if (!now) return tl::unexpected(now.error());
  const auto steps = apply_steps(now->plan.plan, now->deployed);
  if (options.dry_run) {
    for (const auto& step : steps) session.say("would " + step_line(step));
    session.say(steps.empty() ? "everything is as the plan holds" : "dry run: nothing was changed");
    return {};
  }
  if (!steps.empty()) {
    for (const auto& step : steps) session.say("will " + step_line(step));
    const auto agreed = session.consent(fmt::format("change the scaling of '{}' to {} ({} steps)",
                                                    session.endpoint(), now->plan_file, steps.size()),
                                        0);
    if (!agreed) return agreed;
    if (auto done = do_steps(session, *now, steps); !done) return done;
  }
  session.say(steps.empty() ? fmt::format("the scaling of '{}' is already as {} holds; nothing to do",
                                          session.endpoint(), now->plan_file)
                            : fmt::format("applied {}; check it with: {}", now->plan_file,
                                          now->commands.bench("validate")));
  report_surroundings(session, *now);
  const bool reachable = quota_allows_minimum(session, *now);
  const bool suspended = now->deployed.target && now->deployed.target->suspended != aws::SuspendedState{};
  return reachable && !suspended ? wait_for_counts(options, session, *now) : Result<void>{};
}

}  // namespace

std::vector<base::Option> ApplyOptions::table() {
  return {
      {.name = "plan", .help = "the plan to apply; default: plan.json of --out", .target = &plan_file},
      {.name = "wait", .help = "wait this long for the counts to reach the new bounds", .target = &wait},
      {.name = "dry-run", .help = "say what would be done", .target = &dry_run},
  };
}

int run_apply(const ApplyOptions& options, Session& session) {
  const auto done = apply(options, session);
  if (done) return base::kExitGood;
  session.complain("tts-bench apply: " + base::describe(done.error()));
  return base::error_row(done.error().code).exit_code;
}

}  // namespace headroom::bench
