// Statistics of the simulated metrics and the datapoints that alarms look at.
#include "capacity/sim_metrics.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::capacity {

std::optional<double> SimMetrics::value(std::string_view metric, std::string_view statistic, double end_s,
                                        int period_s) const {
  const auto end = static_cast<std::ptrdiff_t>(std::llround(end_s / kSimPeriodS));
  const auto begin = end - period_s / kSimPeriodS;
  if (begin < 0 || end > static_cast<std::ptrdiff_t>(buckets_.size())) return std::nullopt;
  double samples = 0, level = 0, high = 0, offered = 0, per_instance = 0, busy = 0;
  for (auto i = begin; i < end; ++i) {
    const SimBucket& b = buckets_[static_cast<std::size_t>(i)];
    samples += b.instances;
    level += b.level_mean;
    busy += b.busy;
    high = std::max(high, b.level_max);
    offered += b.offered;
    if (b.instances > 0) per_instance += b.offered / b.instances;
  }
  if (metric == "ConcurrentRequestsPerModel" || metric == "CPUUtilization") {
    if (samples == 0) return std::nullopt;
    const double scale = metric == "CPUUtilization" ? 100 : 1;
    const double sum = metric == "CPUUtilization" ? busy : level;
    if (statistic == "Average") return scale * sum / samples;
    if (statistic == "Sum") return scale * sum;
    if (statistic == "SampleCount") return samples;
    if (statistic == "Maximum" && metric != "CPUUtilization") return high;
    return std::nullopt;
  }
  if (metric == "OfferedRequests") {  // one line per instance and 10 s, idle ones too
    if (samples == 0) return std::nullopt;
    if (statistic == "Average") return offered / samples;
    if (statistic == "Sum") return offered;
    if (statistic == "SampleCount") return samples;
    return std::nullopt;
  }
  if (offered == 0) return std::nullopt;  // the service's counts have no datapoint without a request
  if (metric == "Invocations") {
    if (statistic == "Sum" || statistic == "SampleCount") return offered;
    if (statistic == "Average") return 1;
  }
  if (metric == "InvocationsPerInstance" && statistic == "Sum") return per_instance;
  return std::nullopt;
}

std::vector<std::optional<double>> SimMetrics::points(const AlarmRule& alarm, int count) const {
  int period = alarm.period_s.value_or(0);
  for (const AlarmQuery& query : alarm.queries) period = std::max(period, query.period_s.value_or(0));
  if (period < kSimPeriodS) period = kSimPeriodS;
  if (!alarm.metric) return math_points(alarm, period, count);
  // Periods are aligned: a period of 60 s ends on a whole minute.
  const double end = std::floor(now_s() / period) * period;
  std::vector<std::optional<double>> out;
  const std::string& statistic = alarm.statistic.empty() ? alarm.extended_statistic : alarm.statistic;
  for (int i = count - 1; i >= 0; --i)
    out.push_back(value(alarm.metric->name, statistic, end - static_cast<double>(i) * period, period));
  return out;
}

std::vector<std::optional<double>> SimMetrics::math_points(const AlarmRule& alarm, int period_s,
                                                           int count) const {
  const auto end = static_cast<std::int64_t>(std::floor(now_s() / period_s)) * period_s;
  const std::int64_t begin = end - static_cast<std::int64_t>(count) * period_s;
  std::vector<MathQuery> queries;
  std::string returned;
  for (const AlarmQuery& query : alarm.queries) {
    MathQuery math;
    math.id = query.id;
    math.expression = query.expression;
    math.period_s = period_s;
    if (query.metric) {
      for (std::int64_t at = begin; at < end; at += period_s) {
        const auto read =
            value(query.metric->name, query.statistic, static_cast<double>(at + period_s), period_s);
        if (read) math.series[at] = *read;
      }
    }
    if (query.return_data) returned = query.id;
    queries.push_back(std::move(math));
  }
  std::vector<std::optional<double>> out(static_cast<std::size_t>(count));
  const auto values = evaluate_math(queries, {begin, end, period_s});
  if (!values || !values->contains(returned)) return out;
  const auto* series = std::get_if<TimeSeries>(&values->at(returned));
  if (series == nullptr) return out;
  for (int i = 0; i < count; ++i) {
    const auto found = series->find(begin + static_cast<std::int64_t>(i) * period_s);
    if (found != series->end()) out[static_cast<std::size_t>(i)] = found->second;
  }
  return out;
}

double SimMetrics::rate_rps(double window_s) const {
  const auto wanted = static_cast<std::size_t>(std::max(1.0, window_s / kSimPeriodS));
  const std::size_t count = std::min(wanted, buckets_.size());
  if (count == 0) return 0;
  double sum = 0;
  for (std::size_t i = buckets_.size() - count; i < buckets_.size(); ++i) sum += buckets_[i].offered;
  return sum / (kSimPeriodS * static_cast<double>(count));
}

}  // namespace headroom::capacity
