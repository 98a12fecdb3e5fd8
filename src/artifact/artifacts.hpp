// The artifacts that commands write and read: qmax, ttotal, plan, validate, drift.
//
// Each has `schema` "headroom/NAME" and `version` 1. Reading checks size, JSON, the schema of docs/schemas
// (embedded in the binary) and started = ok + rejected + failed + timed_out + aborted; unknown keys are
// allowed. Writing checks the same and is atomic. Pure but for read_* and write_*, which touch the one file
// named. Thread safe. Errors: kNotFound, kIo, kResourceExhausted (over 64 MiB), kInvalidData with file, JSON
// pointer, what was expected and what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/header.hpp"
#include "base/result.hpp"
#include "capacity/plan.hpp"
#include "capacity/qmax.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::artifact {

struct Unqueued {
  std::optional<double> mean_ms, p95_ms;
  std::vector<double> sample_ms;  // single times, sorted, thinned by capacity::compact_sample; may be empty
};

struct Calibration {
  std::optional<double> ratio;  // median over the rungs; null: the metric had no data
  std::string metric = "ConcurrentRequestsPerModel";
  std::string note;
};

struct RunResult {  // one of --runs N
  std::optional<int> q_max;
  std::optional<capacity::QmaxVerdict> verdict;
  std::optional<capacity::Interval> interval;
};

struct QmaxArtifact {
  Header header;
  std::string method;  // ladder, adaptive
  double slo_ms = 3000;
  std::string transport;
  std::vector<capacity::Rung> rungs;
  capacity::QmaxResult result;
  std::optional<int> knee_n;
  std::string knee_sentence;
  Unqueued unqueued;
  Calibration calibration;
  std::vector<RunResult> runs;
  std::optional<double> runs_spread;
  std::optional<double> duration_s;
  std::optional<double> noise_ratio, scatter;  // certified search
  std::optional<bool> host_contended, paced_engine;
  std::optional<int> server_queue_limit;  // null: unknown; 0: none
};

struct TtotalArtifact {
  Header header;
  std::string transport;
  capacity::Stages stages;
  std::optional<double> measured_total_s;       // T_m
  std::optional<double> policy_lag_bound_s;     // lag
  std::optional<double> total_s;                // T_total = T_m + lag
  std::optional<double> policy_lag_measured_s;  // --observe-policy; then T_total = T_m + this
  std::string lag_source;                       // which policy the bound was computed from
  std::vector<std::optional<double>> runs_s;    // T_m of each run; null: traffic did not recover
  std::optional<double> runs_spread;            // (slowest - fastest) / fastest
  std::optional<int> load_l;                    // L
  std::optional<double> recover_factor, hold_s, baseline_p95_ms;
  std::optional<bool> host_contended, paced_engine;
  std::optional<std::string> client_bound;  // why the driver may have set T_m; null: it did not
  std::optional<std::string> new_instance;
};

struct PlanArtifact {
  Header header;
  std::string transport;
  capacity::Plan plan;
  std::string qmax_file, ttotal_file;      // as named on the command line
  std::string qmax_sha256, ttotal_sha256;  // of the files that were planned from
};

struct Check {         // one line of validate or drift
  std::string id;      // "target.max", "alarm NAME threshold", ...
  std::string level;   // OK, INFO, WARN, ERROR; INCONCLUSIVE: a live phase that judges nothing
  std::string found;   // what is
  std::string wanted;  // what should be
  std::string remedy;  // the command that fixes it
};

struct ValidateArtifact {
  Header header;
  std::string plan_file;
  std::vector<Check> checks;
  std::string verdict;  // valid, different, inconclusive
};

struct DriftArtifact {
  Header header;
  std::vector<Check> checks;
  std::string verdict;  // clean, warnings, drifted
};

base::Result<std::string> to_json_text(const QmaxArtifact& a);
base::Result<std::string> to_json_text(const TtotalArtifact& a);
base::Result<std::string> to_json_text(const PlanArtifact& a);
base::Result<std::string> to_json_text(const ValidateArtifact& a);
base::Result<std::string> to_json_text(const DriftArtifact& a);

// `name` is used in messages only: the file's name.
base::Result<QmaxArtifact> parse_qmax(const std::string& text, const std::string& name);
base::Result<TtotalArtifact> parse_ttotal(const std::string& text, const std::string& name);
base::Result<PlanArtifact> parse_plan(const std::string& text, const std::string& name);

base::Result<QmaxArtifact> read_qmax(const std::string& path);
base::Result<TtotalArtifact> read_ttotal(const std::string& path);
base::Result<PlanArtifact> read_plan(const std::string& path);

// Writes to_json_text atomically; makes the folder. For any of the five.
base::Result<void> write_artifact_text(const std::string& path, const base::Result<std::string>& text);
template <class Artifact>
base::Result<void> write_artifact(const std::string& path, const Artifact& artifact) {
  return write_artifact_text(path, to_json_text(artifact));
}

// "artifacts/<endpoint>"; refuses a name that is not a SageMaker name before it becomes a path.
base::Result<std::string> default_folder(const std::string& endpoint);

}  // namespace headroom::artifact
