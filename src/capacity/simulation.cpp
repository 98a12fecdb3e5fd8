// The event loop: arrivals in order, and every 10 s the metrics, the scaler and the fleet.
#include "capacity/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "capacity/sim_instance.hpp"

namespace headroom::capacity {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Run {
 public:
  Run(const SimSetup& setup, Arrivals& arrivals, Scaler& scaler)
      : setup_(setup), arrivals_(arrivals), scaler_(scaler), random_(setup.seed) {
    for (int i = 0; i < setup.initial; ++i) instances_.emplace_back(0, 0, setup.service.workers);
    desired_ = setup.initial;
    refresh();
  }

  SimResult run() {
    const double end = arrivals_.duration_s();
    double tick = kSimPeriodS;
    for (auto at = arrivals_.next(); at; at = arrivals_.next()) {
      for (; *at >= tick; tick += kSimPeriodS) period_ends(tick);
      arrive(*at);
    }
    for (; tick <= end; tick += kSimPeriodS) period_ends(tick);
    finish(end);
    return std::move(result_);
  }

 private:
  void arrive(double now) {
    if (now >= next_ready_) refresh(now);
    ++result_.offered;
    ++bucket_.offered;
    SimInstance* chosen = choose(now);
    if (chosen == nullptr || (setup_.queue_limit > 0 && chosen->outstanding() >= setup_.queue_limit)) {
      ++result_.refused;
      ++bucket_.refused;
      return;
    }
    const double first_audio = chosen->serve(now, work(), setup_.service.overhead_s) - now;
    latencies_.push_back(static_cast<float>(first_audio));
    if (first_audio <= setup_.slo_s) {
      ++result_.good;
    } else {
      ++result_.late;
      ++bucket_.late;
    }
  }

  // The one with the fewest outstanding; among equals the next in turn.
  SimInstance* choose(double now) {
    SimInstance* best = nullptr;
    const std::size_t count = serving_.size();
    if (count == 0) return nullptr;
    turn_ = turn_ + 1 < count ? turn_ + 1 : 0;
    for (std::size_t k = 0, i = turn_; k < count; ++k, i = i + 1 < count ? i + 1 : 0) {
      SimInstance& instance = instances_[serving_[i]];
      instance.advance(now);
      if (best == nullptr || instance.outstanding() < best->outstanding()) best = &instance;
    }
    return best;
  }

  double work() {
    const auto& relative = setup_.service.relative;
    if (relative.empty()) return setup_.service.mean_s;
    // Lemire's reduction: unbiased enough for a table of measured times, and cheap.
    const auto pick = static_cast<std::size_t>(((random_() >> 32U) * relative.size()) >> 32U);
    return setup_.service.mean_s * relative[pick];
  }

  void period_ends(double now) {
    if (now >= next_ready_) refresh(now);
    for (SimInstance& instance : instances_) instance.close_period(now, bucket_);
    settle(now);
    bucket_.desired = desired_;
    bucket_.in_service = static_cast<int>(serving_.size());
    metrics_.add(bucket_);
    bucket_ = {};
    const auto wanted = scaler_.decide(metrics_, {desired_, static_cast<int>(serving_.size())});
    if (wanted) resize(std::clamp(*wanted, setup_.bounds.minimum, setup_.bounds.maximum), now);
  }

  // Takes away what has drained.
  void settle(double now) {
    const auto gone = std::partition(instances_.begin(), instances_.end(), [now](const SimInstance& i) {
      return !(i.draining() && i.outstanding() == 0 && i.ready_s() <= now);
    });
    for (auto it = gone; it != instances_.end(); ++it) paid_s_ += now - it->asked_s();
    if (gone == instances_.end()) return;
    instances_.erase(gone, instances_.end());
    refresh(now);
  }

  void resize(int wanted, double now) {
    if (wanted == desired_) return;
    const int direction = wanted > desired_ ? 1 : -1;
    (direction > 0 ? result_.scale_outs : result_.scale_ins) += 1;
    if (last_direction_ != 0 && direction != last_direction_) ++result_.turns;
    last_direction_ = direction;
    for (int i = desired_; i < wanted; ++i)
      instances_.emplace_back(now, now + start_time(), setup_.service.workers);
    for (int i = wanted; i < desired_; ++i) drain_one(now);
    desired_ = wanted;
    refresh(now);
  }

  // One that is not ready yet, the youngest first; else the one with the fewest outstanding.
  void drain_one(double now) {
    SimInstance* chosen = nullptr;
    for (SimInstance& instance : instances_) {
      if (instance.draining()) continue;
      const bool starting = instance.ready_s() > now;
      const bool chosen_starting = chosen != nullptr && chosen->ready_s() > now;
      if (chosen == nullptr || (starting && (!chosen_starting || instance.ready_s() > chosen->ready_s())) ||
          (!starting && !chosen_starting && instance.outstanding() < chosen->outstanding()))
        chosen = &instance;
    }
    if (chosen == nullptr) return;
    if (chosen->ready_s() <= now) {
      chosen->drain();
      return;
    }
    paid_s_ += now - chosen->asked_s();
    instances_.erase(instances_.begin() + (chosen - instances_.data()));
  }

  double start_time() {
    double total = 0;
    for (const double stage : setup_.start.stage_s)
      total += stage * std::max(0.2, 1 + setup_.start.spread * normal_(random_));
    return total;
  }

  void refresh(double now = 0) {
    serving_.clear();
    next_ready_ = kNever;
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (instances_[i].draining()) continue;
      if (instances_[i].ready_s() <= now)
        serving_.push_back(i);
      else
        next_ready_ = std::min(next_ready_, instances_[i].ready_s());
    }
    turn_ = 0;
    result_.most = std::max(result_.most, static_cast<int>(instances_.size()));
  }

  void finish(double end) {
    for (const SimInstance& instance : instances_) paid_s_ += end - instance.asked_s();
    result_.instance_hours = paid_s_ / 3600;
    result_.duration_s = end;
    result_.p50_s = rank(0.50);
    result_.p95_s = rank(0.95);
    result_.p99_s = rank(0.99);
    result_.timeline = metrics_.buckets();
  }

  std::optional<double> rank(double share) {
    if (latencies_.empty()) return std::nullopt;
    const auto at =
        static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(latencies_.size()))) - 1;
    std::nth_element(latencies_.begin(), latencies_.begin() + at, latencies_.end());
    return latencies_[static_cast<std::size_t>(at)];
  }

  const SimSetup& setup_;
  Arrivals& arrivals_;
  Scaler& scaler_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<SimInstance> instances_;
  std::vector<std::size_t> serving_;  // indices of those that take requests
  std::size_t turn_ = 0;
  double next_ready_ = kNever;
  int desired_ = 0, last_direction_ = 0;
  double paid_s_ = 0;
  SimBucket bucket_;
  SimMetrics metrics_;
  SimResult result_;
  std::vector<float> latencies_;
};

}  // namespace

ServiceModel make_service_model(double throughput_rps, double unqueued_mean_s, double cv,
                                const std::vector<double>& unqueued_s) {
  constexpr double kNearlyAWorker = 0.1;  // 1.93 workers' worth of throughput are two
  ServiceModel model;
  model.workers =
      static_cast<int>(std::clamp(std::floor(throughput_rps * unqueued_mean_s + kNearlyAWorker), 1.0, 256.0));
  model.mean_s = model.workers / throughput_rps;
  model.overhead_s = std::max(0.0, unqueued_mean_s - model.mean_s);
  double sum = 0;
  for (const double s : unqueued_s) sum += s;
  if (!unqueued_s.empty() && sum > 0) {
    for (const double s : unqueued_s)
      model.relative.push_back(s * static_cast<double>(unqueued_s.size()) / sum);
  } else if (cv > 1e-6) {
    // Equally likely quantiles of a lognormal of mean 1: deterministic, and the same for every seed.
    constexpr int kCount = 512;
    const double sigma = std::sqrt(std::log(1 + cv * cv));
    std::mt19937_64 random(42);
    std::lognormal_distribution<double> draw(-sigma * sigma / 2, sigma);
    double total = 0;
    for (int i = 0; i < kCount; ++i) total += model.relative.emplace_back(draw(random));
    for (double& r : model.relative) r *= kCount / total;
  }
  return model;
}

std::vector<double> compact_sample(std::vector<double> values, std::size_t most) {
  values.erase(
      std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v) || v <= 0; }),
      values.end());
  std::sort(values.begin(), values.end());
  if (values.size() <= most) return values;
  std::vector<double> out;
  out.reserve(most);
  for (std::size_t i = 0; i < most; ++i) out.push_back(values[(2 * i + 1) * values.size() / (2 * most)]);
  return out;
}

base::Result<SimResult> simulate(const SimSetup& setup, Arrivals& arrivals, Scaler& scaler) {
  if (!(setup.service.mean_s > 0) || !std::isfinite(setup.service.mean_s) || setup.service.workers < 1)
    return base::fail(
        base::ErrorCode::kInvalidArgument,
        fmt::format("a service of {} s with {} workers cannot be simulated; measure rung 1 first",
                    setup.service.mean_s, setup.service.workers));
  if (setup.initial < 1 || setup.bounds.minimum < 1 || setup.bounds.maximum < setup.bounds.minimum)
    return base::fail(base::ErrorCode::kInvalidArgument,
                      fmt::format("a fleet of {} between {} and {} cannot be simulated; the minimum is 1",
                                  setup.initial, setup.bounds.minimum, setup.bounds.maximum));
  return Run(setup, arrivals, scaler).run();
}

}  // namespace headroom::capacity
