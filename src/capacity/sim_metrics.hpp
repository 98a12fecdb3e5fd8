// SimMetrics: the metrics that a simulated endpoint publishes, in periods of 10 s, read as CloudWatch would.
//
// The same meanings as tts-local's: concurrency of one instance is one datapoint for each 10 s in service,
// its Average the time-weighted mean, its Maximum the busiest instance's largest level; Invocations and
// OfferedRequests count refused requests too. Pure. Times: seconds since the start of the simulation.
// Thread safety: single. An unknown metric or a period without data is nullopt, never 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capacity/metric_math.hpp"
#include "capacity/policy.hpp"

namespace headroom::capacity {

constexpr int kSimPeriodS = 10;

struct SimBucket {
  int instances = 0;      // in service at any time of the period
  double level_mean = 0;  // sum over instances of the time-weighted mean outstanding
  double level_max = 0;   // of the busiest instance
  double busy = 0;        // sum over instances of the share of time that their workers worked
  double offered = 0;     // requests, refused ones included
  double refused = 0;
  double late = 0;                  // answered after the SLO
  int desired = 0, in_service = 0;  // at the end of the period
};

class SimMetrics {
 public:
  void add(const SimBucket& bucket) { buckets_.push_back(bucket); }
  const std::vector<SimBucket>& buckets() const { return buckets_; }
  double now_s() const { return kSimPeriodS * static_cast<double>(buckets_.size()); }

  // The statistic over [end_s - period_s, end_s); periods are multiples of 10 s.
  std::optional<double> value(std::string_view metric, std::string_view statistic, double end_s,
                              int period_s) const;
  // The last `count` datapoints, the newest last, of an alarm's metric or of the query that returns data.
  std::vector<std::optional<double>> points(const AlarmRule& alarm, int count) const;
  // Mean offered rate over the last `window_s`.
  double rate_rps(double window_s) const;

 private:
  std::vector<std::optional<double>> math_points(const AlarmRule& alarm, int period_s, int count) const;
  std::vector<SimBucket> buckets_;
};

}  // namespace headroom::capacity
