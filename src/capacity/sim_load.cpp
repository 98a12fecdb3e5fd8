// Loads by name, Poisson arrivals, traces, and what can be said of a load without simulating.
#include "capacity/sim_load.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace headroom::capacity {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMinute = 60;
constexpr double kLongest = 7 * 86400.0;

std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> parts{""};
  for (const char c : words) {
    if (c == ':')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// The number at `i`, or `otherwise` where the word is left out.
base::Result<double> number(const std::vector<std::string>& parts, std::size_t i, double otherwise) {
  if (i >= parts.size()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(parts[i].c_str(), &end);
  if (parts[i].empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("load '{}': '{}' is not a number above 0", fmt::join(parts, ":"), parts[i]));
  return value;
}

class PoissonArrivals final : public Arrivals {
 public:
  PoissonArrivals(Profile profile, std::uint64_t seed) : profile_(std::move(profile)), random_(seed) {}
  double duration_s() const override { return profile_.duration_s(); }
  // Within a second the rate is constant, and an exponential has no memory: at its end the draw starts anew.
  std::optional<double> next() override {
    while (second_ < profile_.rate_rps.size()) {
      const double rate = profile_.rate_rps[second_];
      const double end = static_cast<double>(second_ + 1);
      if (rate > 0) {
        const double uniform = static_cast<double>((random_() >> 11U) + 1) * 0x1p-53;
        now_ -= std::log(uniform) / rate;
        if (now_ < end) return now_;
      }
      now_ = end;
      ++second_;
    }
    return std::nullopt;
  }

 private:
  Profile profile_;
  std::mt19937_64 random_;
  std::size_t second_ = 0;
  double now_ = 0;
};

class RecordedArrivals final : public Arrivals {
 public:
  explicit RecordedArrivals(Trace trace) : trace_(std::move(trace)) {}
  double duration_s() const override { return trace_.at_s.empty() ? 0 : std::ceil(trace_.at_s.back()) + 1; }
  std::optional<double> next() override {
    if (next_ >= trace_.at_s.size()) return std::nullopt;
    return trace_.at_s[next_++];
  }

 private:
  Trace trace_;
  std::size_t next_ = 0;
};

void hold(std::vector<double>& rates, double seconds, double rate) {
  rates.insert(rates.end(), static_cast<std::size_t>(std::lround(seconds)), rate);
}

void ramp(std::vector<double>& rates, double seconds, double from, double to) {
  const auto steps = static_cast<std::size_t>(std::max<long>(1, std::lround(seconds)));
  for (std::size_t i = 0; i < steps; ++i)
    rates.push_back(from + (to - from) * static_cast<double>(i + 1) / static_cast<double>(steps));
}

// A day between base/3 and base with slow noise: an AR(1) process of ten minutes' memory.
std::vector<double> day(double base, double noise, std::uint64_t seed) {
  constexpr double kMemoryS = 600;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> rates;
  const double keep = std::exp(-1 / kMemoryS);
  const double push = noise * std::sqrt(1 - keep * keep);
  double wander = 0;
  for (int s = 0; s < 86400; ++s) {
    wander = keep * wander + push * normal(random);
    const double smooth = (2 - std::cos(2 * std::numbers::pi * s / 86400.0)) / 3;
    rates.push_back(std::max(0.0, base * smooth * (1 + wander)));
  }
  return rates;
}

std::vector<double> markov(double base, double low_s, double high_s, double factor, double total_s,
                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> rates;
  for (bool high = false; static_cast<double>(rates.size()) < total_s; high = !high) {
    std::exponential_distribution<double> stay(1 / (high ? high_s : low_s));
    hold(rates, std::clamp(stay(random), 1.0, total_s), high ? factor * base : base);
  }
  rates.resize(static_cast<std::size_t>(total_s));
  return rates;
}

}  // namespace

base::Result<Profile> make_profile(const std::string& words, const LoadScale& scale, std::uint64_t seed) {
  const auto parts = split(words);
  const std::string& kind = parts[0];
  const bool two = kind == "ramp" || kind == "square" || kind == "markov" || kind == "spike";
  const auto a = number(parts, 1, kind == "day" ? 7 : kind == "markov" ? 60 : 2);
  if (!a) return tl::unexpected(a.error());
  const auto b = number(parts, 2, kind == "spike" ? 60 : kind == "markov" ? 120 : 2);
  if (!b) return tl::unexpected(b.error());
  if (parts.size() > (two ? 3U : kind == "flat" ? 1U : 2U))
    return fail(ErrorCode::kInvalidArgument, fmt::format("load '{}' has more words than it knows", words));
  const double base = scale.base_rps;
  const double t = scale.start_s;
  if (2 * t > kLongest || (two && *b * t > kLongest))
    return fail(ErrorCode::kInvalidArgument, fmt::format("load '{}' would last longer than a week", words));
  if (kind == "square" && *b * t < 2)
    return fail(ErrorCode::kInvalidArgument, fmt::format("load '{}': a wave shorter than 2 s", words));
  if (auto ok = check_requests(std::max(1.0, *a) * base * std::max(t, 1.0)); !ok)
    return tl::unexpected(ok.error());
  Profile profile;
  profile.name = words;
  auto& rates = profile.rate_rps;
  if (kind == "flat") {
    hold(rates, 12 * t, base);
  } else if (kind == "step") {
    hold(rates, 2 * t, base);
    hold(rates, 10 * t, *a * base);
  } else if (kind == "ramp") {
    hold(rates, 2 * t, base);
    ramp(rates, *b * t, base, *a * base);
    hold(rates, std::max(4.0, 10 - *b) * t, *a * base);
  } else if (kind == "spike") {
    hold(rates, 2 * t, base);
    hold(rates, *b, *a * base);
    hold(rates, 10 * t, base);
  } else if (kind == "square") {
    const double swing = std::sqrt(*a);
    while (static_cast<double>(rates.size()) < 40 * t) {
      hold(rates, *b * t / 2, base / swing);
      hold(rates, *b * t / 2, base * swing);
    }
  } else if (kind == "day") {
    rates = day(base, *a / 100, seed);
  } else if (kind == "markov") {
    rates = markov(base, *a, *b, 2, 40 * t, seed);
  } else {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no load '{}'; there are flat, step:M, ramp:M:K, spike:M:S, square:M:K, day[:N], "
                            "markov:A:B, or a trace file",
                            words));
  }
  return profile;
}

base::Result<void> check_requests(double requests) {
  constexpr double kMost = 2e8;
  if (requests <= kMost) return {};
  return fail(
      ErrorCode::kResourceExhausted,
      fmt::format(
          "{:.2g} requests are too many to simulate (at most {:g}); take a shorter load, a lower rate, or "
          "fewer copies of the trace",
          requests, kMost));
}

Trace multiplied(const Trace& trace, int copies, double jitter_s, std::uint64_t seed) {
  if (copies <= 1 && jitter_s <= 0) return trace;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> shift(-jitter_s, jitter_s);
  Trace out;
  out.name = trace.name;
  out.at_s.reserve(trace.at_s.size() * static_cast<std::size_t>(std::max(1, copies)));
  for (const double at : trace.at_s) {
    for (int i = 0; i < std::max(1, copies); ++i)
      out.at_s.push_back(std::max(0.0, at + (jitter_s > 0 ? shift(random) : 0)));
  }
  std::sort(out.at_s.begin(), out.at_s.end());
  return out;
}

std::unique_ptr<Arrivals> poisson(Profile profile, std::uint64_t seed) {
  return std::make_unique<PoissonArrivals>(std::move(profile), seed);
}
std::unique_ptr<Arrivals> recorded(Trace trace) {
  return std::make_unique<RecordedArrivals>(std::move(trace));
}

std::vector<double> per_second(const Trace& trace) {
  std::vector<double> counts;
  for (const double at : trace.at_s) {
    const auto second = static_cast<std::size_t>(at);
    if (counts.size() <= second) counts.resize(second + 1);
    ++counts[second];
  }
  return counts;
}

namespace {

// means[i]: the mean of the 60 s that end with second i.
std::vector<double> minute_means(const std::vector<double>& per_second) {
  std::vector<double> means;
  double sum = 0;
  for (std::size_t i = 0; i < per_second.size(); ++i) {
    sum += per_second[i];
    if (i >= kMinute) sum -= per_second[i - kMinute];
    if (i + 1 >= kMinute) means.push_back(sum / kMinute);
  }
  // Less than a minute: its mean is all there is.
  if (means.empty() && !per_second.empty()) means.push_back(sum / static_cast<double>(per_second.size()));
  return means;
}

}  // namespace

std::optional<double> growth_within(const std::vector<double>& per_second, double horizon_s) {
  const auto means = minute_means(per_second);
  const auto ahead = static_cast<std::size_t>(std::max(1.0, std::round(horizon_s)));
  std::vector<double> growth;
  std::vector<std::size_t> best;  // a queue of indices with falling means: the largest within the window
  std::size_t head = 0, end = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    for (; end < means.size() && end <= i + ahead; ++end) {
      while (best.size() > head && means[best.back()] <= means[end]) best.pop_back();
      best.push_back(end);
    }
    while (best[head] < i) ++head;
    if (means[i] > 0) growth.push_back(means[best[head]] / means[i]);
  }
  if (growth.empty()) return std::nullopt;
  const auto rank =
      static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(growth.size()))) - 1;  // nearest rank
  std::nth_element(growth.begin(), growth.begin() + static_cast<std::ptrdiff_t>(rank), growth.end());
  return growth[rank];
}

std::optional<double> turning_period_s(const std::vector<double>& per_second, double least_rps) {
  constexpr double kQuarter = 0.25;
  const auto means = minute_means(per_second);
  if (means.empty()) return std::nullopt;
  std::vector<std::size_t> turns;  // where the level was highest or lowest before it came back
  double extreme = means.front();
  std::size_t at = 0;
  int direction = 0;  // +1: rising, so that `extreme` is a maximum
  for (std::size_t i = 1; i < means.size(); ++i) {
    const double way = means[i] - extreme;
    if (direction * way >= 0 && direction != 0) {
      extreme = means[i];
      at = i;
    } else if (std::abs(way) > std::max(least_rps, kQuarter * std::max(means[i], extreme))) {
      if (direction != 0) turns.push_back(at);
      direction = way > 0 ? 1 : -1;
      extreme = means[i];
      at = i;
    }
  }
  if (turns.size() < 4) return std::nullopt;
  return 2.0 * static_cast<double>(turns.back() - turns.front()) / static_cast<double>(turns.size() - 1);
}

double clairvoyant_hours(const std::vector<double>& per_second, double throughput_rps, double utilisation,
                         int minimum) {
  double seconds = 0;
  for (std::size_t from = 0; from < per_second.size(); from += kMinute) {
    const std::size_t to = std::min(per_second.size(), from + kMinute);
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += per_second[i];
    const auto length = static_cast<double>(to - from);
    const double needed = std::ceil(sum / length / (throughput_rps * utilisation) - 1e-9);
    seconds += length * std::max(static_cast<double>(minimum), needed);
  }
  return seconds / 3600;
}

double peak_rate(const std::vector<double>& per_second) {
  const auto means = minute_means(per_second);
  return means.empty() ? 0 : *std::max_element(means.begin(), means.end());
}

double trough_rate(const std::vector<double>& per_second) {
  const auto means = minute_means(per_second);
  return means.empty() ? 0 : std::max(0.0, *std::min_element(means.begin(), means.end()));
}

}  // namespace headroom::capacity
