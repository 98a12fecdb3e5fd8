// Buckets, levels and statistics of the metric store.
#include "cloud/metric_store.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace headroom::cloud {
namespace {

constexpr double kKeepRawSeconds = 3 * 3600;  // of real time
constexpr double kKeepSeconds = 24 * 3600;
constexpr auto kOldestTaken = std::chrono::days{14};

std::int64_t align(std::int64_t time, std::int64_t period) {
  const std::int64_t rest = time % period;
  return time - (rest < 0 ? rest + period : rest);
}

}  // namespace

MetricKey make_key(std::string metric_namespace, std::string name,
                   std::vector<std::pair<std::string, std::string>> dimensions) {
  std::sort(dimensions.begin(), dimensions.end());
  return {std::move(metric_namespace), std::move(name), std::move(dimensions)};
}

void MetricStore::run_faster(double times) { fast_ = times; }

double MetricStore::cloud_now_s() const {
  return std::chrono::duration<double>(clock_.wall().time_since_epoch()).count() * fast_;
}

bool MetricStore::takes_time(base::WallTime at) const {
  const base::WallTime now = clock_.wall();
  return at >= now - kOldestTaken && at <= now + kLatestTaken;
}

void MetricStore::add(Series& series, std::int64_t second, const Readings& readings) const {
  if (drops_) return;
  capacity::merge(series.seconds[second], readings);
  series.fresh.insert(second);
}

void MetricStore::forget_old(Series& series, std::int64_t now) const {
  const auto keep = std::llround(kKeepSeconds * fast_), keep_raw = std::llround(kKeepRawSeconds * fast_);
  while (!series.seconds.empty() && series.seconds.begin()->first < now - keep)
    series.seconds.erase(series.seconds.begin());
  // Walks back from the limit only as far as raw readings are still there.
  auto it = series.seconds.lower_bound(now - keep_raw);
  while (it != series.seconds.begin()) {
    --it;
    if (it->second.raw.empty()) break;
    std::vector<std::pair<double, double>>().swap(it->second.raw);
  }
}

void MetricStore::close_bucket(Series& series, Source& source) const {
  if (source.covered_s > 0) {
    const double mean = source.area / source.covered_s;
    add(series, source.bucket_s, {mean, source.minimum, source.maximum, 1, {{mean, 1}}});
  }
  forget_old(series, source.bucket_s);
  source.bucket_s += kBucketSeconds;
  source.area = source.covered_s = 0;
  source.maximum = source.minimum = source.level;  // what is carried over counts in the next bucket too
}

void MetricStore::roll(Series& series, Source& source, double now) const {
  while (now >= static_cast<double>(source.bucket_s + kBucketSeconds)) {
    const double edge = static_cast<double>(source.bucket_s + kBucketSeconds);
    const double span = std::max(0.0, edge - source.since_s);
    source.area += source.level * span;
    source.covered_s += span;
    source.since_s = edge;
    close_bucket(series, source);
  }
  if (now > source.since_s) {
    source.area += source.level * (now - source.since_s);
    source.covered_s += now - source.since_s;
    source.since_s = now;
  }
}

void MetricStore::add_source(const MetricKey& key, const std::string& source) {
  Series& series = series_[key];
  series.held_back = series.gauge = true;
  const double now = cloud_now_s();
  Source fresh;
  fresh.since_s = now;
  fresh.bucket_s = align(static_cast<std::int64_t>(std::floor(now)), kBucketSeconds);
  series.sources.try_emplace(source, fresh);
  forget_old(series, static_cast<std::int64_t>(now));
}

void MetricStore::change_level(const MetricKey& key, const std::string& source, int delta) {
  const auto series = series_.find(key);
  if (series == series_.end()) return;
  const auto it = series->second.sources.find(source);
  if (it == series->second.sources.end()) return;
  Source& gauge = it->second;
  roll(series->second, gauge, cloud_now_s());
  gauge.level += delta;
  gauge.maximum = std::max(gauge.maximum, gauge.level);
  gauge.minimum = std::min(gauge.minimum, gauge.level);
}

void MetricStore::remove_source(const MetricKey& key, const std::string& source) {
  const auto series = series_.find(key);
  if (series == series_.end()) return;
  const auto it = series->second.sources.find(source);
  if (it == series->second.sources.end()) return;
  roll(series->second, it->second, cloud_now_s());
  close_bucket(series->second, it->second);
  series->second.sources.erase(it);
}

void MetricStore::record(const MetricKey& key, double value) {
  Series& series = series_[key];
  series.held_back = true;
  const auto now = static_cast<std::int64_t>(std::floor(cloud_now_s()));
  add(series, now, one_reading(value));
  forget_old(series, now);
}

void MetricStore::put(const MetricKey& key, Readings readings, base::WallTime at, const std::string& unit) {
  Series& series = series_[key];
  if (!unit.empty()) series.unit = unit;
  const double real = std::chrono::duration<double>(at.time_since_epoch()).count();
  add(series, static_cast<std::int64_t>(std::floor(real * fast_)), readings);
  forget_old(series, static_cast<std::int64_t>(std::floor(cloud_now_s())));
}

void MetricStore::put_of_cloud_time(const MetricKey& key, Readings readings, base::WallTime at,
                                    const std::string& unit) {
  series_[key].gauge = true;
  put(key, std::move(readings), at, unit);
}

capacity::TimeSeries MetricStore::collect(Series& series, Statistic statistic, std::int64_t period_s,
                                          std::int64_t first, std::int64_t last, std::int64_t open,
                                          double scale) {
  const double now = cloud_now_s();
  for (auto& [name, source] : series.sources) roll(series, source, now);
  const bool counts = statistic.kind == StatKind::kSum || statistic.kind == StatKind::kSampleCount;
  capacity::TimeSeries points;
  for (auto it = series.seconds.lower_bound(first); it != series.seconds.end() && it->first < open;) {
    const std::int64_t bucket = align(it->first, period_s);
    if (bucket >= last) break;
    Readings all;
    for (; it != series.seconds.end() && it->first < bucket + period_s && it->first < open; ++it)
      capacity::merge(all, it->second);
    if (const auto value = capacity::evaluate(all, statistic))
      points[bucket] = counts ? *value * scale : *value;
  }
  return points;
}

std::vector<MetricPoint> MetricStore::query(const MetricKey& key, Statistic statistic, std::int64_t period_s,
                                            base::WallTime start, base::WallTime end) {
  const auto found = series_.find(key);
  if (found == series_.end() || period_s < 1) return {};
  using std::chrono::seconds;
  const auto cloud = [&](std::int64_t real) { return std::llround(static_cast<double>(real) * fast_); };
  const auto first = align(std::chrono::floor<seconds>(start).time_since_epoch().count(), period_s);
  const auto last = std::chrono::ceil<seconds>(end).time_since_epoch().count();
  const auto now = std::chrono::floor<seconds>(clock_.wall()).time_since_epoch().count();
  const std::int64_t open =
      found->second.held_back ? cloud(align(now, kBucketSeconds)) : std::int64_t{1} << 60;
  std::vector<MetricPoint> points;
  // A source gives N datapoints where it would give one.
  for (const auto& [time, value] :
       collect(found->second, statistic, std::max<std::int64_t>(1, cloud(period_s)), cloud(first),
               cloud(last), open, found->second.gauge ? 1 / fast_ : 1))
    points.push_back({std::llround(static_cast<double>(time) / fast_), value});
  return points;
}

capacity::TimeSeries MetricStore::cloud_points(const MetricKey& key, Statistic statistic,
                                               std::int64_t period_s, std::int64_t begin_s,
                                               std::int64_t end_s) {
  const auto found = series_.find(key);
  if (found == series_.end() || period_s < 1) return {};
  Series& series = found->second;
  const std::int64_t open = series.held_back
                                ? align(static_cast<std::int64_t>(std::floor(cloud_now_s())), kBucketSeconds)
                                : std::int64_t{1} << 60;
  const double scale = series.held_back && !series.gauge ? fast_ : 1;
  return collect(series, statistic, period_s, align(begin_s, period_s), end_s, open, scale);
}

std::vector<MetricKey> MetricStore::list() const {
  std::vector<MetricKey> keys;
  for (const auto& [key, series] : series_) keys.push_back(key);
  return keys;
}

std::string MetricStore::unit(const MetricKey& key) const {
  const auto found = series_.find(key);
  return found == series_.end() ? "None" : found->second.unit;
}

void MetricStore::set_unit(const MetricKey& key, const std::string& unit) { series_[key].unit = unit; }

}  // namespace headroom::cloud
