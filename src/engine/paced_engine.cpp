// The serial section keeps its own timeline, so that late wake-ups do not add up over a run. What it stood
// still for (its host stopped, or it was) is lost, as it is for a model.
#include "engine/paced_engine.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <random>
#include <thread>

namespace headroom::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr int kRate = 24000;
constexpr std::size_t kPeriod = 100;  // samples of one wave: a tone of 240 Hz
constexpr float kLevel = 0.2F;
constexpr std::chrono::milliseconds kStoodStill{100};  // less is a late wake-up, and made up for

class PacedEngine final : public Engine {
 public:
  explicit PacedEngine(const PacedOptions& options) : options_(options), random_(options.seed) {}

  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    const auto make_tone = [&] { return tone(spoken_seconds(segment.characters, segment.speed)); };
    return segment.first ? serve_one(segment.ready, make_tone) : make_tone();
  }
  int sample_rate() const override { return kRate; }
  int workers() const override { return 1; }
  const std::vector<std::string>& voices() const override { return voices_; }
  std::string_view name() const override { return "paced"; }
  std::chrono::nanoseconds overhead() const override { return milliseconds(options_.overhead_ms); }

 private:
  static std::chrono::nanoseconds milliseconds(double ms) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double, std::milli>(ms));
  }

  // The samples are made within the service time, so that they add nothing to it.
  template <class Make>
  std::vector<float> serve_one(SteadyClock::time_point ready, const Make& make) {
    std::lock_guard lock(mutex_);
    // As a queue would have it, however late this thread woke up; the warm-up comes from no queue.
    const auto start = std::max(free_at_, ready == SteadyClock::time_point{} ? SteadyClock::now() : ready);
    const double factor = 1.0 + options_.jitter * std::clamp(normal_(random_), -3.0, 3.0);
    free_at_ = start + milliseconds(options_.service_ms * std::max(0.0, factor));
    auto samples = make();
    std::this_thread::sleep_until(free_at_);
    if (const auto now = SteadyClock::now(); now - free_at_ > kStoodStill) free_at_ = now;
    return samples;
  }

  static std::vector<float> one_period() {
    std::vector<float> wave(kPeriod);
    for (std::size_t i = 0; i < kPeriod; ++i) {
      wave[i] =
          kLevel * static_cast<float>(std::sin(2.0 * std::numbers::pi * static_cast<double>(i) / kPeriod));
    }
    return wave;
  }

  std::vector<float> tone(double seconds) const {
    std::vector<float> samples(static_cast<std::size_t>(seconds * kRate));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = wave_[i % kPeriod];
    return samples;
  }

  const std::vector<float> wave_ = one_period();
  const PacedOptions options_;
  const std::vector<std::string> voices_{"af_bella", "af_heart", "am_adam", "bf_emma", "bm_george"};
  std::mutex mutex_;
  std::mt19937_64 random_;                                      // guarded by mutex_
  std::normal_distribution<double> normal_;                     // guarded by mutex_
  SteadyClock::time_point free_at_{SteadyClock::time_point{}};  // guarded by mutex_
};

}  // namespace

double spoken_seconds(std::size_t characters, float speed) {
  return (0.4 + static_cast<double>(characters) / 15.0) / static_cast<double>(std::clamp(speed, 0.25F, 4.0F));
}

std::unique_ptr<Engine> make_paced_engine(const PacedOptions& options) {
  return std::make_unique<PacedEngine>(options);
}

}  // namespace headroom::engine
