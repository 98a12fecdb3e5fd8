// Reads what drift judges, writes and prints the verdict.
#include "bench/drift.hpp"

#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "bench/deployed.hpp"
#include "bench/drift_rows.hpp"
#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

using base::Result;

constexpr auto kWindow = std::chrono::minutes{15};
// Requests this young may not have reached a metric of 60 s yet.
constexpr auto kSettle = std::chrono::minutes{3};

Check unread(const std::string& what, const base::Error& error) {
  return {what, "WARN", "could not be read: " + base::describe(error), "readable", "check the permissions"};
}

Result<void> read_plan_file(Session& session, const DriftOptions& options, DriftInput& in) {
  in.plan_file = plan_path(session, options.plan_file);
  if (options.plan_file.empty() && !base::file_exists(in.plan_file)) return {};
  auto plan = artifact::read_plan(in.plan_file);
  if (plan) {
    in.plan = std::move(*plan);
    return {};
  }
  if (!options.plan_file.empty()) return tl::unexpected(plan.error());
  in.unread.push_back({"plan", "WARN", "could not be read: " + base::describe(plan.error()), "a plan",
                       in.commands.bench("plan")});
  return {};
}

Result<void> read_freeze(Session& session, DriftInput& in) {
  // A record that cannot be understood is still a sign of a freeze; its message says what to do.
  const auto spoilt = [&](const std::string& id, const base::Error& error) {
    in.spoilt_freezes.push_back({id, "ERROR", error.message, "not frozen", in.commands.thaw()});
  };
  auto tag = read_freeze_tag(session, in.live.endpoint.arn);
  if (!tag && tag.error().code != base::ErrorCode::kInvalidData) return tl::unexpected(tag.error());
  if (tag) {
    in.tag = *tag;
  } else {
    spoilt("freeze.tag", tag.error());
  }
  auto journal = read_journal(journal_path(session));
  if (!journal && journal.error().code != base::ErrorCode::kInvalidData)
    return tl::unexpected(journal.error());
  if (journal) {
    in.journal = *journal;
  } else {
    spoilt("freeze.journal", journal.error());
  }
  in.journal_alive = in.journal && !JournalLock::take(journal_path(session)).has_value();
  return {};
}

void read_quota(Session& session, DriftInput& in) {
  if (in.live.config.instance_type.empty()) return;
  auto room = quota_room(session, in.live.config.instance_type);
  if (room)
    in.quota = std::move(*room);
  else
    in.unread.push_back(unread("quota", room.error()));
}

// "endpoint/E/variant/V".
std::pair<std::string, std::string> split_resource(const std::string& id) {
  const std::string first = "endpoint/", second = "/variant/";
  const auto middle = id.find(second);
  if (id.rfind(first, 0) != 0 || middle == std::string::npos) return {};
  return {id.substr(first.size(), middle - first.size()), id.substr(middle + second.size())};
}

// Why a resource of Application Auto Scaling has nothing to scale; nullopt: it has.
Result<std::optional<std::string>> orphaned(Session& session, const std::string& resource_id,
                                            std::map<std::string, aws::EndpointDescription>& known) {
  const auto [endpoint, variant] = split_resource(resource_id);
  if (endpoint.empty()) return std::nullopt;
  if (known.count(endpoint) == 0) {
    auto found = session.sagemaker().describe_endpoint(endpoint, session.soon());
    if (!found && found.error().code != base::ErrorCode::kNotFound) return tl::unexpected(found.error());
    known[endpoint] = found ? *found : aws::EndpointDescription{};
  }
  if (known[endpoint].name.empty()) return fmt::format("endpoint '{}' does not exist", endpoint);
  if (known[endpoint].variant(variant) == nullptr)
    return fmt::format("endpoint '{}' has no variant '{}'", endpoint, variant);
  return std::nullopt;
}

Result<void> read_orphans(Session& session, DriftInput& in) {
  auto targets = session.autoscaling().describe_targets({}, session.soon());
  if (!targets) return tl::unexpected(targets.error());
  auto policies = session.autoscaling().describe_policies("", session.soon());
  if (!policies) return tl::unexpected(policies.error());
  std::map<std::string, Orphan> resources;
  for (const auto& target : *targets) resources[target.resource_id].target = true;
  for (const auto& policy : *policies) resources[policy.resource_id].policies.push_back(policy.name);
  std::map<std::string, aws::EndpointDescription> known{{in.live.endpoint.name, in.live.endpoint}};
  for (auto& [id, orphan] : resources) {
    auto why = orphaned(session, id, known);
    if (!why) return tl::unexpected(why.error());
    if (!*why) continue;
    orphan.resource_id = id;
    orphan.why = **why;
    in.orphans.push_back(std::move(orphan));
  }
  return {};
}

void add_queries(const aws::Alarm& alarm, std::vector<aws::MetricQuery>& queries,
                 std::map<std::string, std::pair<std::string, std::string>>& whose) {
  const auto add = [&](const aws::Metric& metric, const std::string& statistic, int period_s) {
    aws::MetricQuery query;
    query.id = fmt::format("q{}", queries.size());
    query.metric = metric;
    query.statistic = statistic;
    query.period_s = period_s;
    whose[query.id] = {alarm.name, metric.name};
    queries.push_back(std::move(query));
  };
  if (alarm.metric) {
    add(*alarm.metric, alarm.statistic.empty() ? alarm.extended_statistic : alarm.statistic,
        alarm.period_s.value_or(60));
  }
  for (const auto& query : alarm.queries) {
    if (query.metric) add(*query.metric, query.statistic, query.period_s.value_or(60));
  }
}

// Which alarms' metrics are silent, and whether requests were served: then silence is a fault.
Result<void> read_activity(Session& session, DriftInput& in) {
  if (in.deployed.alarms.empty()) return {};
  const auto now = session.clock().wall();
  const auto load =
      session.cloudwatch().series(to_aws(capacity::concurrency_metric(session.endpoint(), session.variant())),
                                  "Maximum", 10, now - kWindow, now - kSettle, session.soon());
  if (!load) return tl::unexpected(load.error());
  for (const auto& point : *load) in.under_load = in.under_load || point.value > 0;
  std::vector<aws::MetricQuery> queries;
  std::map<std::string, std::pair<std::string, std::string>> whose;
  for (const auto& alarm : in.deployed.alarms) {
    if (queries.size() < 400) add_queries(alarm, queries, whose);  // GetMetricData takes 500
  }
  auto series = session.cloudwatch().get_metric_data(queries, now - kWindow, now, session.soon());
  if (!series) return tl::unexpected(series.error());
  for (const auto& one : *series) {
    if (!one.points.empty()) whose.erase(one.id);
  }
  for (const auto& [id, names] : whose) {
    auto& metrics = in.silent[names.first];
    if (metrics.empty() || metrics.back() != names.second) metrics.push_back(names.second);
  }
  return {};
}

}  // namespace

std::vector<base::Option> DriftOptions::table() {
  return {{.name = "plan",
           .help = "the plan to compare with; default: plan.json of --out, if there is one",
           .target = &plan_file}};
}

Result<artifact::DriftArtifact> check_drift(Session& session, const DriftOptions& options) {
  DriftInput in;
  in.commands = commands_for(session, options.plan_file);
  in.model_file = session.model_file();
  if (auto ok = read_plan_file(session, options, in); !ok) return tl::unexpected(ok.error());
  auto endpoint = describe_named_endpoint(session);
  if (!endpoint) return tl::unexpected(endpoint.error());
  artifact::DriftArtifact out;
  if (endpoint->variant(session.variant()) == nullptr) {
    // Nothing further can be asked about a variant that is not there.
    out.checks = compare_counts(*endpoint, session.variant(), std::nullopt, std::nullopt, in.commands);
    out.verdict = drift_verdict(out.checks);
    out.header = session.header({});
    return out;
  }
  auto live =
      in.plan ? read_live(session, in.plan->transport, in.plan->header.fingerprint.workload_hash.value_or(""))
              : read_live(session, "", "");
  if (!live) return tl::unexpected(live.error());
  in.live = std::move(*live);
  auto deployed = read_deployed(session);
  if (!deployed) return tl::unexpected(deployed.error());
  in.deployed = std::move(*deployed);
  if (auto ok = read_freeze(session, in); !ok) return tl::unexpected(ok.error());
  read_quota(session, in);
  if (auto ok = read_orphans(session, in); !ok) in.unread.push_back(unread("orphans", ok.error()));
  if (auto ok = read_activity(session, in); !ok) in.unread.push_back(unread("metrics", ok.error()));
  out.checks = drift_checks(in);
  out.verdict = drift_verdict(out.checks);
  out.header = session.header(in.live.fingerprint);
  return out;
}

int run_drift(const DriftOptions& options, Session& session) {
  const auto fail = [&](const base::Error& error) {
    session.complain("tts-bench drift: " + base::describe(error));
    return base::error_row(error.code).exit_code;
  };
  const auto found = check_drift(session, options);
  if (!found) return fail(found.error());
  const auto text = artifact::to_json_text(*found);
  const std::string file = session.folder() + "/drift.json";
  if (auto written = artifact::write_artifact_text(file, text); !written) return fail(written.error());
  if (session.options().json) std::puts(text->c_str());
  std::string verdict = "no drift; measuring may start";
  if (found->verdict == "warnings") verdict = "no drift, with warnings; measuring may start";
  if (found->verdict == "drifted") verdict = "drift found; mend the ERROR lines before measuring";
  print_checks(session, found->checks, fmt::format("{} ({})", verdict, file));
  return found->verdict == "drifted" ? base::kExitNegative : base::kExitGood;
}

}  // namespace headroom::bench
