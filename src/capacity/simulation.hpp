// Simulation: one endpoint under a load, request by request, with a scaler at work.
//
// Discrete events, pure, deterministic by seed. What is modelled: instances of `workers` servers with the
// measured service times, one FIFO queue each, a limit on outstanding requests (a request beyond it is
// refused), least-outstanding routing, the 10 s metrics, the scaler, instances that take the measured time to
// start (each stage with its spread) and drain when they go. What is not: streaming after the first audio,
// routing that is random, instances that fail. A request is good if its first audio comes within the SLO;
// refused and late ones are not. Units: seconds, requests per second. Thread safety: a run is single
// threaded; runs are independent. Errors: kInvalidArgument (a setup that makes no sense).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "capacity/sim_load.hpp"
#include "capacity/sim_metrics.hpp"
#include "capacity/sim_scaler.hpp"

namespace headroom::capacity {

// One instance, as measured. make_service_model: c workers, c = the throughput times the unqueued time,
// rounded down but at least 1; each works c/throughput a request on average, and what is left of the unqueued
// time passes outside them. So an idle instance answers in the measured time and a full one gives the
// measured throughput.
struct ServiceModel {
  int workers = 1;
  double mean_s = 0;             // of the work of one request on one worker
  double overhead_s = 0;         // outside the workers
  std::vector<double> relative;  // measured times / their mean, drawn from; empty: all are the mean
};
// `unqueued_s`: measured times where they were kept (compact_sample); else a lognormal of the given cv.
ServiceModel make_service_model(double throughput_rps, double unqueued_mean_s, double cv,
                                const std::vector<double>& unqueued_s);

// What of a measurement's single times travels within its artifact: sorted, all of them up to `most`, else
// the quantiles (i + 1/2)/most by nearest rank. Drawn from evenly they are the measured distribution again,
// with its tail up to the last half step. Values that are no positive finite numbers are left out.
std::vector<double> compact_sample(std::vector<double> values, std::size_t most = 256);

struct StartModel {
  std::vector<double> stage_s;  // the stages of T_m; their sum is the time to serve
  double spread = 0.1;          // standard deviation of each stage, as a share of it
};

struct SimSetup {
  ServiceModel service;
  StartModel start;
  int queue_limit = 0;  // 0: none
  double slo_s = 3;
  int initial = 1;
  Bounds bounds{1, 1, false, false};
  std::uint64_t seed = 1;
};

struct SimResult {
  std::uint64_t offered = 0, good = 0, late = 0, refused = 0;
  std::optional<double> p50_s, p95_s, p99_s;  // first audio of answered requests
  double instance_hours = 0;                  // from being asked for until gone
  double duration_s = 0;
  int scale_outs = 0, scale_ins = 0;
  int turns = 0;  // changes of direction
  int most = 0;   // instances at once
  std::vector<SimBucket> timeline;
  // nullopt where nothing was offered.
  std::optional<double> share_within_slo() const {
    if (offered == 0) return std::nullopt;
    return static_cast<double>(good) / static_cast<double>(offered);
  }
  double turns_per_hour() const { return duration_s > 0 ? turns * 3600.0 / duration_s : 0; }
};

base::Result<SimResult> simulate(const SimSetup& setup, Arrivals& arrivals, Scaler& scaler);

}  // namespace headroom::capacity
