// tts-bench cost: what a million characters cost on each instance type that was measured.
//
// Reads every qmax.json under the artifacts folder and the price in the model file of the same endpoint (or
// of the same instance type). USD per million characters = price per hour / (utilisation x throughput x
// characters per request x 3600) x 1e6, the throughput being that of the largest passing rung. Unknown price,
// characters or throughput: unknown. No network. Exit codes: 0, 1 nothing to read, 2 usage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/plan.hpp"

namespace headroom::bench {

struct CostOptions {
  std::string artifacts = "artifacts";
  double utilisation = 0.8;
  std::optional<double> price;
  std::vector<base::Option> table();
};

struct CostRow {
  std::string endpoint, instance_type, source;
  std::optional<double> throughput_rps, characters, price_per_hour_usd, per_million_characters_usd;
  std::optional<int> q_max;
};
// Of the load that an artifact was measured with; none: not known, or a file of texts that is gone.
std::optional<double> characters_per_request(const artifact::Header& header);

base::Result<std::vector<CostRow>> cost_rows(const CostOptions& options, const std::string& models_folder);

int run_cost(const CostOptions& options, const PlanContext& context, const Print& print,
             const Print& complain);

}  // namespace headroom::bench
