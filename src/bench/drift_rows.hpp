// Drift rows: what was read of an endpoint, judged row by row.
//
// Pure. ERROR: measuring or scaling would go wrong. WARN: look at it, measuring may start. INFO: good to
// know. Thread safe, no errors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "bench/checks.hpp"
#include "bench/freeze.hpp"
#include "bench/policy_compare.hpp"
#include "bench/quota_room.hpp"
#include "bench/session.hpp"
#include "model/model_file.hpp"

namespace headroom::bench {

struct Orphan {
  std::string resource_id;
  std::string why;  // "endpoint 'x' does not exist"
  bool target = false;
  std::vector<std::string> policies;
};

struct DriftInput {
  LiveEndpoint live;
  Deployed deployed;
  std::optional<model::ModelFile> model_file;
  std::optional<artifact::PlanArtifact> plan;
  std::string plan_file;
  std::optional<FreezeRecord> tag, journal;
  bool journal_alive = false;         // the process of the journal still runs
  std::vector<Check> spoilt_freezes;  // a tag or journal that cannot be understood
  std::vector<Orphan> orphans;
  std::optional<QuotaRoom> quota;  // of instances of this type; nullopt: unknown
  // Alarms whose metrics gave no datapoint lately: alarm name -> metric names.
  std::map<std::string, std::vector<std::string>> silent;
  bool under_load = false;    // requests were served lately
  std::vector<Check> unread;  // what could not be read, as checks
  Commands commands;
};

std::vector<Check> drift_checks(const DriftInput& in);
std::string drift_verdict(const std::vector<Check>& checks);  // clean, warnings, drifted

// Parts, for tests.
std::vector<Check> drift_scaling(const DriftInput& in);   // target, policies, alarms, plan
std::vector<Check> drift_activity(const DriftInput& in);  // alarm states and inert policies
std::vector<Check> drift_container(const DriftInput& in);
Check drift_quota(const DriftInput& in);

}  // namespace headroom::bench
