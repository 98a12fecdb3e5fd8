// simulate.json: several policies under one simulated load, as `tts-bench simulate` writes it.
//
// Like the other artifacts: schema checked when written and read, unknown is null. Timelines are at most 400
// points. Pure but for read_simulate. Errors as in artifacts.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "capacity/contest.hpp"

namespace headroom::artifact {

struct SimulatedLoad {
  std::string name;
  double duration_s = 0;
  std::uint64_t offered = 0;
  std::optional<double> mean_rps, peak_rps, trough_rps;
  std::optional<double> growth;  // within the horizon
  std::optional<double> clairvoyant_hours;
};

// At most 400 points, each over `step_s`.
struct Timeline {
  double step_s = 0;
  std::vector<double> offered_rps, in_service, desired;
  std::vector<double> bad_rps;  // refused or late
};
Timeline thinned(const std::vector<capacity::SimBucket>& buckets);

struct SimulatedRow {
  capacity::ContestRow row;  // its own timeline is not kept
  Timeline timeline;
  std::optional<double> cost_usd;
};

struct SimulateArtifact {
  Header header;
  SimulatedLoad load;
  double throughput_rps = 0, service_ms = 0, start_s = 0, slo_ms = 0, horizon_s = 0;
  int workers = 1, queue_limit = 0, seed = 1;
  std::vector<SimulatedRow> rows;
};

base::Result<std::string> to_json_text(const SimulateArtifact& a);
base::Result<SimulateArtifact> parse_simulate(const std::string& text, const std::string& name);
base::Result<SimulateArtifact> read_simulate(const std::string& path);

}  // namespace headroom::artifact
