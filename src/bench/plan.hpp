// tts-bench plan: reads a qmax and a ttotal artifact and the model file, writes plan.json, prints what it
// means.
//
// Reads and writes files only; no network. Refuses artifacts of another transport, fingerprint or endpoint
// (naming each difference) and, without a calibration ratio, the concurrency target unless --assume-ratio.
// Exit codes: 0 feasible (with or without warnings), 3 infeasible, 1 unreadable input, 2 usage.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "base/options.hpp"
#include "base/result.hpp"
#include "capacity/contest.hpp"

namespace headroom::bench {

struct PlanOptions {
  std::string qmax_file;    // default: OUT/qmax.json
  std::string ttotal_file;  // default: OUT/ttotal.json
  std::string rule = "recommended";
  std::string carrier = "native";
  std::optional<double> headroom, peak_rps, trough_rps, slo_ms, assume_ratio;
  std::string trace_file;  // sizes the plan by a recorded load, and simulates it
  int trace_copies = 1;
  double trace_jitter_s = 0;
  bool search = false;  // look for the cheapest policy that holds on the trace
  // The options of the table; the targets point into this struct.
  std::vector<base::Option> table();
};

// What every command of tts-bench has in common and plan needs.
struct PlanContext {
  std::string endpoint;  // --endpoint; empty: the model file's, else the qmax artifact's
  std::string variant = "AllTraffic";
  std::string model;  // --model; empty: none
  std::string models_folder = "models";
  std::string out;    // --out; empty: artifacts/<endpoint>
  bool json = false;  // print plan.json instead of the table
  bool quiet = false;
  std::string created;  // ISO 8601, from the injected clock
  std::string run_id;
  std::vector<base::Setting> settings;
};

struct PlanRun {
  artifact::PlanArtifact artifact;
  std::string written_to;
};
// What a plan is made from: the measurements, the model file and the options, checked against each other.
struct PlanMeasurements {
  capacity::PlanInput input;
  std::string folder;  // where artifacts go
};
// The load that --trace names. Errors: those of read_trace, kResourceExhausted.
base::Result<capacity::ContestLoad> recorded_load(const PlanOptions& options);
base::Result<PlanMeasurements> read_plan_input(const PlanOptions& options, const PlanContext& context);
// Everything but printing.
base::Result<PlanRun> make_plan_artifact(const PlanOptions& options, const PlanContext& context);
// The table for people.
std::string plan_text(const artifact::PlanArtifact& artifact);
// The command: `print` gets stdout, `complain` stderr. Returns the exit code.
using Print = std::function<void(const std::string&)>;
int run_plan(const PlanOptions& options, const PlanContext& context, const Print& print,
             const Print& complain);

}  // namespace headroom::bench
