// MetricStore: raw readings of every metric, kept by the second, and the statistics CloudWatch makes of them.
//
// Three ways in: level changes of a gauge (concurrent requests of one instance), readings of the service
// (latencies, counts) and custom data (PutMetricData). It knows no wire format and evaluates no alarm.
// Gauges: each instance is a source and yields one datapoint for every 10 s bucket in which it was in
// service, idle ones included: Maximum and Minimum of its level (the level carried over from before the
// bucket counts), and its time-weighted mean, which Average and Sum work on. So with several instances
// Maximum is the busiest instance's, Sum the mean of the whole variant, SampleCount instances times buckets.
// Publication: gauge and service readings become visible when their 10 s bucket (aligned to the epoch) has
// closed, custom data at once.
// Cloud time: with run_faster(N) a period of 10 s passes in 10/N real seconds. Readings are kept in cloud
// seconds (epoch seconds times N). There are two views. query() is for clients and works in real time: a
// datapoint is what N = 1 would show. cloud_points() is for alarms and works in cloud time: sums and counts
// of the service's readings are multiplied by N, as if the load had lasted for the whole period, so that
// rates per second are those of real time in both. Percentiles are exact (nearest rank over raw readings)
// while raw readings are kept (3 h); aggregates are kept for 24 h. Units: the caller's. Time: wall clock,
// injected. Single threaded: the caller locks. Source: CloudWatch API reference (GetMetricData: start rounded
// down to the period, end exclusive; PutMetricData: what times are taken).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "capacity/metric_math.hpp"
#include "capacity/metric_statistics.hpp"

namespace headroom::cloud {

struct MetricKey {
  std::string metric_namespace;
  std::string name;
  std::vector<std::pair<std::string, std::string>> dimensions;  // sorted by name
  auto operator<=>(const MetricKey&) const = default;
};

MetricKey make_key(std::string metric_namespace, std::string name,
                   std::vector<std::pair<std::string, std::string>> dimensions);

using capacity::one_reading;
using capacity::parse_statistic;
using capacity::Readings;
using capacity::Statistic;
using capacity::StatKind;

struct MetricPoint {
  std::int64_t time_s = 0;  // start of the period, epoch seconds
  double value = 0;
};

class MetricStore {
 public:
  static constexpr std::int64_t kBucketSeconds = 10;
  static constexpr std::chrono::hours kLatestTaken{2};

  explicit MetricStore(const base::Clock& clock) : clock_(clock) {}

  void run_faster(double times);  // before the first reading
  double cloud_now_s() const;     // cloud time
  // Whether custom data may bear this time: two weeks back, two hours ahead. What lies further ahead would
  // not be forgotten before its time has come.
  bool takes_time(base::WallTime at) const;
  void drop_all(bool drop) { drops_ = drop; }  // while true no reading is kept: a fault for tests

  void add_source(const MetricKey& key, const std::string& source);
  void change_level(const MetricKey& key, const std::string& source,
                    int delta);  // an unknown source is ignored
  void remove_source(const MetricKey& key, const std::string& source);
  void record(const MetricKey& key, double value);
  void put(const MetricKey& key, Readings readings, base::WallTime at, const std::string& unit);
  // A line of an instance's log: it stands for a period of cloud time, as a gauge's datapoint does.
  void put_of_cloud_time(const MetricKey& key, Readings readings, base::WallTime at, const std::string& unit);

  // Ascending; only periods with data. `period_s` >= 1.
  std::vector<MetricPoint> query(const MetricKey& key, Statistic statistic, std::int64_t period_s,
                                 base::WallTime start, base::WallTime end);
  // By start of the period in cloud seconds, within [begin, end); `period_s` in cloud seconds.
  capacity::TimeSeries cloud_points(const MetricKey& key, Statistic statistic, std::int64_t period_s,
                                    std::int64_t begin_s, std::int64_t end_s);
  std::vector<MetricKey> list() const;
  std::string unit(const MetricKey& key) const;
  void set_unit(const MetricKey& key, const std::string& unit);

  // Lines for metric_journal.hpp: everything that changed since the last call. Unreadable lines are skipped.
  std::string take_journal();
  void restart_journal();  // the next lines name their series again
  void replay(std::string_view lines);

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
    bool held_back = false;          // readings wait for their bucket to close
    bool gauge = false;              // one datapoint for each period of cloud time; else single readings
    int number = 0;                  // in the journal; 0: not written yet
    std::set<std::int64_t> fresh{};  // seconds that changed since the journal was taken
  };

  capacity::TimeSeries collect(Series& series, Statistic statistic, std::int64_t period_s, std::int64_t first,
                               std::int64_t last, std::int64_t open, double scale);
  void roll(Series& series, Source& source, double now) const;
  void close_bucket(Series& series, Source& source) const;
  void add(Series& series, std::int64_t second, const Readings& readings) const;
  void forget_old(Series& series, std::int64_t now) const;

  const base::Clock& clock_;
  double fast_ = 1;
  bool drops_ = false;
  int journal_series_ = 0;
  std::map<MetricKey, Series> series_;
};

}  // namespace headroom::cloud
