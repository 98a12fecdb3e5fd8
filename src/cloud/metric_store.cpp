// Buckets, levels and statistics of the metric store.
#include "cloud/metric_store.hpp"

#include <algorithm>
#include <cmath>

#include "base/options.hpp"

namespace headroom::cloud {
namespace {

constexpr std::int64_t kKeepRawSeconds = 3 * 3600;
constexpr std::int64_t kKeepSeconds = 24 * 3600;

std::int64_t align(std::int64_t time, std::int64_t period) {
  const std::int64_t rest = time % period;
  return time - (rest < 0 ? rest + period : rest);
}

void merge(Readings& into, const Readings& more) {
  if (into.count == 0) {
    into = more;
    return;
  }
  into.sum += more.sum;
  into.minimum = std::min(into.minimum, more.minimum);
  into.maximum = std::max(into.maximum, more.maximum);
  into.count += more.count;
  for (const auto& value : more.raw) {
    if (!into.raw.empty() && into.raw.back().first == value.first)
      into.raw.back().second += value.second;
    else
      into.raw.push_back(value);
  }
}

// Nearest rank: the smallest reading that at least p percent of all are not above.
std::optional<double> percentile(Readings& all, double p) {
  if (all.raw.empty()) return std::nullopt;
  std::sort(all.raw.begin(), all.raw.end());
  double total = 0;
  for (const auto& [value, count] : all.raw) total += count;
  const double rank = std::max(1.0, std::ceil(p / 100.0 * total - 1e-9));
  double seen = 0;
  for (const auto& [value, count] : all.raw) {
    seen += count;
    if (seen >= rank) return value;
  }
  return all.raw.back().first;
}

std::optional<double> evaluate(Readings& all, Statistic statistic) {
  switch (statistic.kind) {
    case StatKind::kAverage:
      return all.count > 0 ? std::optional(all.sum / all.count) : std::nullopt;
    case StatKind::kSum:
      return all.sum;
    case StatKind::kMinimum:
      return all.minimum;
    case StatKind::kMaximum:
      return all.maximum;
    case StatKind::kSampleCount:
      return all.count;
    case StatKind::kPercentile:
      return percentile(all, statistic.percentile);
  }
  return std::nullopt;
}

}  // namespace

MetricKey make_key(std::string metric_namespace, std::string name,
                   std::vector<std::pair<std::string, std::string>> dimensions) {
  std::sort(dimensions.begin(), dimensions.end());
  return {std::move(metric_namespace), std::move(name), std::move(dimensions)};
}

Readings one_reading(double value, double count) {
  return {value * count, value, value, count, {{value, count}}};
}

std::optional<Statistic> parse_statistic(std::string_view text) {
  if (text == "Average") return Statistic{StatKind::kAverage};
  if (text == "Sum") return Statistic{StatKind::kSum};
  if (text == "Minimum") return Statistic{StatKind::kMinimum};
  if (text == "Maximum") return Statistic{StatKind::kMaximum};
  if (text == "SampleCount") return Statistic{StatKind::kSampleCount};
  if (text.size() < 2 || text[0] != 'p') return std::nullopt;
  const auto p = base::parse_number(std::string(text.substr(1)));
  if (!p || *p < 0 || *p > 100) return std::nullopt;
  return Statistic{StatKind::kPercentile, *p};
}

double MetricStore::now_s() const {
  return std::chrono::duration<double>(clock_.wall().time_since_epoch()).count();
}

void MetricStore::add(Series& series, std::int64_t second, const Readings& readings) {
  merge(series.seconds[second], readings);
}

void MetricStore::forget_old(Series& series, std::int64_t now) {
  while (!series.seconds.empty() && series.seconds.begin()->first < now - kKeepSeconds)
    series.seconds.erase(series.seconds.begin());
  // Walks back from the limit only as far as raw readings are still there.
  auto it = series.seconds.lower_bound(now - kKeepRawSeconds);
  while (it != series.seconds.begin()) {
    --it;
    if (it->second.raw.empty()) break;
    std::vector<std::pair<double, double>>().swap(it->second.raw);
  }
}

void MetricStore::close_bucket(Series& series, Source& source) {
  if (source.covered_s > 0) {
    const double mean = source.area / source.covered_s;
    add(series, source.bucket_s, {mean, source.minimum, source.maximum, 1, {{mean, 1}}});
  }
  forget_old(series, source.bucket_s);
  source.bucket_s += kBucketSeconds;
  source.area = source.covered_s = 0;
  source.maximum = source.minimum = source.level;  // what is carried over counts in the next bucket too
}

void MetricStore::roll(Series& series, Source& source, double now) {
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
  series.held_back = true;
  const double now = now_s();
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
  roll(series->second, gauge, now_s());
  gauge.level += delta;
  gauge.maximum = std::max(gauge.maximum, gauge.level);
  gauge.minimum = std::min(gauge.minimum, gauge.level);
}

void MetricStore::remove_source(const MetricKey& key, const std::string& source) {
  const auto series = series_.find(key);
  if (series == series_.end()) return;
  const auto it = series->second.sources.find(source);
  if (it == series->second.sources.end()) return;
  roll(series->second, it->second, now_s());
  close_bucket(series->second, it->second);
  series->second.sources.erase(it);
}

void MetricStore::record(const MetricKey& key, double value) {
  Series& series = series_[key];
  series.held_back = true;
  const auto now = static_cast<std::int64_t>(std::floor(now_s()));
  add(series, now, one_reading(value));
  forget_old(series, now);
}

void MetricStore::put(const MetricKey& key, Readings readings, base::WallTime at, const std::string& unit) {
  Series& series = series_[key];
  if (!unit.empty()) series.unit = unit;
  const auto second = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  add(series, second, readings);
  forget_old(series, static_cast<std::int64_t>(std::floor(now_s())));
}

std::vector<MetricPoint> MetricStore::query(const MetricKey& key, Statistic statistic, std::int64_t period_s,
                                            base::WallTime start, base::WallTime end) {
  const auto found = series_.find(key);
  if (found == series_.end() || period_s < 1) return {};
  Series& series = found->second;
  const double now = now_s();
  for (auto& [name, source] : series.sources) roll(series, source, now);

  using std::chrono::floor;
  using std::chrono::seconds;
  const std::int64_t first = align(floor<seconds>(start).time_since_epoch().count(), period_s);
  const std::int64_t last = std::chrono::ceil<seconds>(end).time_since_epoch().count();
  const std::int64_t open = series.held_back
                                ? align(static_cast<std::int64_t>(std::floor(now)), kBucketSeconds)
                                : std::int64_t{1} << 60;
  std::vector<MetricPoint> points;
  for (auto it = series.seconds.lower_bound(first); it != series.seconds.end() && it->first < open;) {
    const std::int64_t bucket = align(it->first, period_s);
    if (bucket >= last) break;
    Readings all;
    for (; it != series.seconds.end() && it->first < bucket + period_s && it->first < open; ++it)
      merge(all, it->second);
    if (const auto value = evaluate(all, statistic)) points.push_back({bucket, *value});
  }
  return points;
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
