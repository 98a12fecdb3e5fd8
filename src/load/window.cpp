// Counts and percentiles of a window.
#include "load/window.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "stats/percentile.hpp"

namespace headroom::load {
namespace {

constexpr double kBusyShare = 0.85;
constexpr double kHeldShare = 0.97;
constexpr double kLagMs = 10.0;
constexpr double kLagShare = 0.02;
constexpr double kLoopLagMs = 20.0;
constexpr std::size_t kLoopLagSamples = 10;  // fewer say nothing

std::optional<Percentiles> summarise(const std::vector<double>& samples) {
  const auto moments = stats::moments(samples);
  if (!moments) return std::nullopt;
  static constexpr std::array<double, 4> kPs{0.50, 0.90, 0.95, 0.99};
  const std::vector<double> at = stats::percentiles(samples, kPs);
  return Percentiles{moments->mean, at[0], at[1], at[2], at[3], moments->max};
}

std::string one_decimal(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

void count(const Record& record, WindowView& view) {
  switch (record.outcome) {
    case Outcome::kOk:
      ++view.ok;
      break;
    case Outcome::kRejected:
      ++view.rejected;
      break;
    case Outcome::kFailed:
      ++view.failed;
      break;
    case Outcome::kTimedOut:
      ++view.timed_out;
      break;
    case Outcome::kAborted:
      ++view.aborted;
      break;
  }
  if (record.outcome != Outcome::kOk) ++view.errors[record.error.substr(0, record.error.find(": "))];
}

void read_samples(const std::vector<Sample>& samples, base::SteadyTime from, base::SteadyTime to,
                  WindowView& view) {
  const Sample* first = nullptr;
  const Sample* last = nullptr;
  double in_flight = 0, held = 0, asked = 0;
  std::vector<double> loop_lag;
  for (const Sample& sample : samples) {
    if (sample.at < from || sample.at >= to) continue;
    if (first == nullptr) first = &sample;
    last = &sample;
    const double now = sample.in_flight;
    view.in_flight_min = view.samples == 0 ? now : std::min(view.in_flight_min, now);
    view.in_flight_max = std::max(view.in_flight_max, now);
    in_flight += now;
    held += sample.in_flight + sample.waiting;
    asked += sample.asked;
    if (sample.in_flight > sample.limit) ++view.over_limit;
    loop_lag.push_back(base::to_ms(sample.loop_lag));
    ++view.samples;
  }
  if (view.samples == 0) return;
  const auto n = static_cast<double>(view.samples);
  view.in_flight_mean = in_flight / n;
  view.held_mean = held / n;
  view.asked_mean = asked / n;
  view.loop_lag_ms = stats::percentile(loop_lag, 0.5).value_or(0);
  const double wall = base::to_s(last->at - first->at);
  if (wall > 0) view.cpu_share = (last->cpu_s - first->cpu_s) / wall;
}

void judge_client(WindowView& view, int event_loops) {
  const auto blame = [&view](const std::string& why) {
    view.client_bound = true;
    view.client_bound_why += (view.client_bound_why.empty() ? "" : "; ") + why;
  };
  if (view.cpu_share > kBusyShare * event_loops) {
    blame("the driver used " + one_decimal(view.cpu_share * 100) + " % of a core for " +
          std::to_string(event_loops) + " event loop(s)");
  }
  if (view.samples > 0 && view.held_mean < kHeldShare * view.asked_mean) {
    blame("it held " + one_decimal(view.held_mean) + " of " + one_decimal(view.asked_mean) + " asked");
  }
  const double median = view.ttfab_ms ? view.ttfab_ms->p50 : 0;
  if (view.lag_p95_ms > kLagMs && view.lag_p95_ms > kLagShare * median) {
    blame("requests started " + one_decimal(view.lag_p95_ms) + " ms late (p95)");
  }
  if (view.samples >= kLoopLagSamples && view.loop_lag_ms > kLoopLagMs &&
      view.loop_lag_ms > kLagShare * median) {
    blame("its event loop ran " + one_decimal(view.loop_lag_ms) + " ms late: its core is busy or slow");
  }
}

}  // namespace

WindowView view_window(const WindowInput& input, base::SteadyTime from, base::SteadyTime to, Basis basis,
                       int event_loops) {
  WindowView view;
  view.seconds = base::to_s(to - from);
  const auto within = [&](base::SteadyTime t) { return t >= from && t < to; };
  std::vector<double> audible, total, lag, cap_wait;
  std::uint64_t done_here = 0;
  for (const Record* one : input.records) {
    const Record& record = *one;
    if (record.outcome == Outcome::kOk && within(record.end)) ++done_here;
    if (!within(basis == Basis::kEnded ? record.end : record.from())) continue;
    count(record, view);
    lag.push_back(base::to_ms(record.lag()));
    if (record.open_loop) cap_wait.push_back(base::to_ms(record.cap_wait));
    if (record.outcome != Outcome::kOk) continue;
    view.audio_s += record.audio_s;
    view.underruns += static_cast<std::uint64_t>(record.underruns);
    total.push_back(base::to_ms(record.end - record.from()));
    if (record.first_byte) {
      view.ttfab_samples_ms.push_back(base::to_ms(record.ttfab()));
      view.ttfab_spans.push_back({record.from(), *record.first_byte});
    }
    if (record.first_audible) audible.push_back(base::to_ms(*record.first_audible - record.from()));
  }
  if (basis == Basis::kStarted) {
    view.open =
        static_cast<std::uint64_t>(std::count_if(input.open_starts.begin(), input.open_starts.end(), within));
  }
  view.started = view.ok + view.rejected + view.failed + view.timed_out + view.aborted + view.open;
  view.ttfab_ms = summarise(view.ttfab_samples_ms);
  view.first_audible_ms = summarise(audible);
  view.total_ms = summarise(total);
  view.cap_wait_ms = summarise(cap_wait);
  view.lag_p95_ms = stats::percentile(lag, 0.95).value_or(0);
  if (view.seconds > 0) view.rps = static_cast<double>(done_here) / view.seconds;
  read_samples(input.samples, from, to, view);
  judge_client(view, event_loops);
  return view;
}

}  // namespace headroom::load
