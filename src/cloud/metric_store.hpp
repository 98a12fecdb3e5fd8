// MetricStore: raw readings of every metric, kept by the second, and the statistics CloudWatch makes of them.
//
// Three ways in: level changes of a gauge (concurrent requests of one instance), readings of the service
// (latencies, counts) and custom data (PutMetricData). It knows no wire format and evaluates no alarm.
// Gauges: each instance is a source and yields one datapoint for every 10 s bucket in which it was in
// service, idle ones included: Maximum and Minimum of its level (the level carried over from before the
// bucket counts), and its time-weighted mean, which Average and Sum work on. So with several instances
// Maximum is the busiest instance's, Sum the mean of the whole variant, SampleCount instances times buckets.
// Publication: gauge and service readings become visible when their 10 s bucket (aligned to the epoch) has
// closed, custom data at once. Percentiles are exact (nearest rank over raw readings) while raw readings are
// kept (3 h); aggregates are kept for 24 h. Units: the caller's. Time: wall clock, injected. Single threaded:
// the caller locks. Source: CloudWatch API reference (GetMetricData: start rounded down to the period, end
// exclusive).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace headroom::cloud {

struct MetricKey {
  std::string metric_namespace;
  std::string name;
  std::vector<std::pair<std::string, std::string>> dimensions;  // sorted by name
  auto operator<=>(const MetricKey&) const = default;
};

MetricKey make_key(std::string metric_namespace, std::string name,
                   std::vector<std::pair<std::string, std::string>> dimensions);

// One or more readings taken together.
struct Readings {
  double sum = 0, minimum = 0, maximum = 0, count = 0;
  std::vector<std::pair<double, double>> raw{};  // value, how often; empty for a statistic set
};
Readings one_reading(double value, double count = 1);

enum class StatKind { kAverage, kSum, kMinimum, kMaximum, kSampleCount, kPercentile };
struct Statistic {
  StatKind kind = StatKind::kAverage;
  double percentile = 0;
};
std::optional<Statistic> parse_statistic(std::string_view text);  // "Maximum", "p95", "p99.9"

struct MetricPoint {
  std::int64_t time_s = 0;  // start of the period, epoch seconds
  double value = 0;
};

class MetricStore {
 public:
  static constexpr std::int64_t kBucketSeconds = 10;

  explicit MetricStore(const base::Clock& clock) : clock_(clock) {}

  void add_source(const MetricKey& key, const std::string& source);
  void change_level(const MetricKey& key, const std::string& source,
                    int delta);  // an unknown source is ignored
  void remove_source(const MetricKey& key, const std::string& source);
  void record(const MetricKey& key, double value);
  void put(const MetricKey& key, Readings readings, base::WallTime at, const std::string& unit);

  // Ascending; only periods with data. `period_s` >= 1.
  std::vector<MetricPoint> query(const MetricKey& key, Statistic statistic, std::int64_t period_s,
                                 base::WallTime start, base::WallTime end);
  std::vector<MetricKey> list() const;
  std::string unit(const MetricKey& key) const;
  void set_unit(const MetricKey& key, const std::string& unit);

 private:
  struct Source {
    double level = 0, maximum = 0, minimum = 0, area = 0;
    double covered_s = 0;       // of the open bucket
    std::int64_t bucket_s = 0;  // start of the open bucket
    double since_s = 0;         // area is summed up to here
  };
  struct Series {
    std::map<std::int64_t, Readings> seconds;
    std::map<std::string, Source> sources;
    std::string unit = "None";
    bool held_back = false;  // readings wait for their bucket to close
  };

  double now_s() const;
  static void roll(Series& series, Source& source, double now);
  static void close_bucket(Series& series, Source& source);
  static void add(Series& series, std::int64_t second, const Readings& readings);
  static void forget_old(Series& series, std::int64_t now);

  const base::Clock& clock_;
  std::map<MetricKey, Series> series_;
};

}  // namespace headroom::cloud
