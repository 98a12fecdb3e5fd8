// Merging readings and taking statistics of them.
#include "capacity/metric_statistics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::capacity {
namespace {

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

}  // namespace

Readings one_reading(double value, double count) {
  return {value * count, value, value, count, {{value, count}}};
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

std::optional<Statistic> parse_statistic(std::string_view text) {
  if (text == "Average") return Statistic{StatKind::kAverage};
  if (text == "Sum") return Statistic{StatKind::kSum};
  if (text == "Minimum") return Statistic{StatKind::kMinimum};
  if (text == "Maximum") return Statistic{StatKind::kMaximum};
  if (text == "SampleCount") return Statistic{StatKind::kSampleCount};
  if (text.size() < 2 || text[0] != 'p') return std::nullopt;
  double p = 0;
  const auto [end, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), p);
  if (fault != std::errc{} || end != text.data() + text.size() || !(p >= 0 && p <= 100)) return std::nullopt;
  return Statistic{StatKind::kPercentile, p};
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

}  // namespace headroom::capacity
