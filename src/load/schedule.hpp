// Schedule: when the requests of an open loop should start and what each says, made before the run.
//
// Pure, immutable. Constant: every 1/rate. Poisson: exponential gaps of mean 1/rate, seeded (inverse
// transform of mt19937_64, so equal on every library). Both send the texts in order. Trace: the workload's
// own times, ascending, each with its own text. Errors: kInvalidArgument (no rate, a workload without times,
// over 50 million requests).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/workload.hpp"

namespace headroom::load {

enum class Arrivals { kConstant, kPoisson, kTrace };
std::string_view name_of(Arrivals arrivals);
base::Result<Arrivals> parse_arrivals(std::string_view name);

struct PlannedStart {
  base::Duration at{};          // from the start of the run
  std::uint64_t utterance = 0;  // of the workload: Workload::at
  bool operator==(const PlannedStart&) const = default;
};
using Schedule = std::vector<PlannedStart>;

// Ascending, all below `length` (a trace: all of it where length is 0).
base::Result<Schedule> make_schedule(Arrivals arrivals, double rate_rps, base::Duration length,
                                     const Workload& workload, std::uint64_t seed);

}  // namespace headroom::load
