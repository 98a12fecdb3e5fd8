// tts-bench load, latency and export: a load of a given shape, a quick single-stream check, requests as CSV.
//
// `load` holds --n outstanding (closed loop) or follows --rate and --arrivals (open loop, latency from the
// planned start) for --duration, after --warm-up, and writes load.json. It judges no SLO and freezes nothing.
// Exit codes: 0 good, 1 failed, no successful request or the file of --records not whole, 2 usage, 4 the
// driver was the bottleneck, 130 interrupted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct LoadRunOptions {
  LoadOptions load;
  int n = 1;
  std::optional<double> rate;
  std::string arrivals = "constant";
  int most_outstanding = 10'000;
  base::Duration patience = std::chrono::seconds(60);
  base::Duration duration = std::chrono::seconds(30);
  base::Duration warm_up = std::chrono::seconds(0);
  base::Duration grace = std::chrono::seconds(10);
  std::vector<base::Option> table();
};

struct LatencyOptions {
  LoadOptions load;
  int count = 20;
  std::vector<base::Option> table();
};

struct ExportOptions {
  std::string file;
  std::vector<base::Option> table();
};

int run_load(const LoadRunOptions& options, Session& session);
int run_latency(const LatencyOptions& options, Session& session);
int run_export(const ExportOptions& options, const std::function<void(const std::string&)>& out,
               const std::function<void(const std::string&)>& err);

}  // namespace headroom::bench
