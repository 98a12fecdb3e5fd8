// Constant, Poisson and trace arrivals.
#include "load/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace headroom::load {
namespace {

using base::ErrorCode;
using base::fail;

constexpr double kMost = 50e6;

}  // namespace

std::string_view name_of(Arrivals arrivals) {
  switch (arrivals) {
    case Arrivals::kConstant:
      return "constant";
    case Arrivals::kPoisson:
      return "poisson";
    case Arrivals::kTrace:
      return "trace";
  }
  return "constant";
}

base::Result<Arrivals> parse_arrivals(std::string_view name) {
  for (const Arrivals one : {Arrivals::kConstant, Arrivals::kPoisson, Arrivals::kTrace}) {
    if (name_of(one) == name) return one;
  }
  return fail(ErrorCode::kInvalidArgument,
              "unknown arrivals '" + std::string(name) + "'; choose constant, poisson or trace");
}

base::Result<Schedule> make_schedule(Arrivals arrivals, double rate_rps, base::Duration length,
                                     const Workload& workload, std::uint64_t seed) {
  Schedule out;
  if (arrivals == Arrivals::kTrace) {
    for (std::size_t i = 0; i < workload.size(); ++i) {
      const auto& one = workload.at(i);
      if (!one.at) {
        return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(i + 1) + " of the workload '" +
                                                     workload.spec() +
                                                     "' has no t_s; a trace needs one for every text");
      }
      if (length.count() == 0 || *one.at < length) out.push_back({*one.at, i});
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const PlannedStart& a, const PlannedStart& b) { return a.at < b.at; });
    return out;
  }
  if (!(rate_rps > 0) || length.count() <= 0)
    return fail(ErrorCode::kInvalidArgument, "an open loop needs a rate and a length, both above 0");
  if (rate_rps * base::to_s(length) > kMost) {
    return fail(ErrorCode::kInvalidArgument,
                "more than 50 million requests are planned; lower the rate or the length");
  }
  std::mt19937_64 random(seed);
  const double all = base::to_s(length);
  double t = 0;
  for (std::uint64_t i = 0; t < all; ++i) {
    if (arrivals == Arrivals::kConstant) {
      t = static_cast<double>(i) / rate_rps;
    } else {
      const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1.0p-53;  // in (0, 1)
      t += -std::log(u) / rate_rps;
    }
    if (t < all) out.push_back({base::from_s(t), i});
  }
  return out;
}

}  // namespace headroom::load
