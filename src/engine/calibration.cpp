// Speaks the same sentence with as many callers as workers and counts.
#include "engine/calibration.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace headroom::engine {
namespace {

constexpr double kBetter = 1.1;
constexpr auto kListen = std::chrono::milliseconds(700);  // the least time that a candidate is measured for

// "Hello world." in the model's symbols: a second and a half of speech.
Segment sentence(const Engine& engine) {
  Segment segment;
  segment.tokens = {50, 83, 54, 156, 31, 16, 65, 156, 87, 123, 54, 46, 4, 16};
  segment.voice = {{engine.voices().front(), 1.0F}};
  segment.characters = segment.tokens.size();
  return segment;
}

// Seconds of speech in a second, each worker speaking sentence after sentence until `least` has passed.
base::Result<double> speak(Engine& engine, const base::Clock& clock, base::Duration least) {
  const Segment segment = sentence(engine);
  const auto begin = clock.steady();
  std::vector<std::future<base::Result<std::size_t>>> speaking;
  base::Result<std::size_t> all{0};
  const auto say = [&]() -> base::Result<std::size_t> {
    std::size_t samples = 0;
    do {
      auto spoken = engine.synthesize(segment);
      if (!spoken) return tl::unexpected(spoken.error());
      samples += spoken->size();
    } while (clock.steady() - begin < least);
    return samples;
  };
  try {
    for (int worker = 0; worker < engine.workers(); ++worker)
      speaking.push_back(std::async(std::launch::async, say));
  } catch (const std::system_error& none) {  // a limit of threads
    all = base::fail(base::ErrorCode::kUnavailable, fmt::format("no thread for a worker: {}", none.what()));
  }
  for (auto& one : speaking) {
    auto samples = one.get();
    if (!samples) {
      all = tl::unexpected(samples.error());
    } else if (all) {
      *all += *samples;
    }
  }
  if (!all) return tl::unexpected(all.error());
  return static_cast<double>(*all) / engine.sample_rate() /
         std::max(1e-6, base::to_s(clock.steady() - begin));
}

// The first sentence of each worker makes the kernels for its length, and counts only where no more is
// measured.
base::Result<double> measure(Engine& engine, const base::Clock& clock, base::Duration most) {
  const auto begin = clock.steady();
  auto warm = speak(engine, clock, {});
  if (!warm || (most.count() > 0 && 4 * (clock.steady() - begin) > most)) return warm;
  return speak(engine, clock, kListen);
}

// `begin`: from where on a start takes longer because of calibrating; set when the first engine stands.
base::Result<double> make_and_measure(const Shares& shares, const MakeEngine& make, const base::Clock& clock,
                                      base::Duration most, std::unique_ptr<Engine>& engine,
                                      std::optional<base::SteadyTime>& begin) {
  auto made = make(shares);
  if (!made) return tl::unexpected(made.error());
  engine = std::move(*made);
  if (!begin) begin = clock.steady();
  return measure(*engine, clock, most);
}

}  // namespace

Shares choose_measured(const std::vector<Measured>& measured) {
  const auto best = std::max_element(
      measured.begin(), measured.end(),
      [](const Measured& a, const Measured& b) { return a.speech_s_per_s < b.speech_s_per_s; });
  return best->speech_s_per_s >= kBetter * measured.front().speech_s_per_s ? best->shares
                                                                           : measured.front().shares;
}

std::string describe(const Calibration& calibration) {
  const auto chosen = choose_measured(calibration.measured);
  auto text = fmt::format("{}x{} of", chosen.workers, chosen.threads);
  for (const auto& one : calibration.measured) {
    text += fmt::format("{} {}x{} {:.2f}", text.ends_with("of") ? "" : ",", one.shares.workers,
                        one.shares.threads, one.speech_s_per_s);
  }
  for (const auto& one : calibration.left_out)
    text += fmt::format(", {}x{} not measured", one.workers, one.threads);
  return text;
}

base::Result<CalibrationRun> calibrate(const std::vector<Shares>& candidates, const MakeEngine& make,
                                       const base::Clock& clock, base::Duration most, const KeepDefault& keep,
                                       const StopAsked& stop_asked) {
  CalibrationRun run;
  std::optional<base::SteadyTime> begin;
  base::Duration one{};  // what a candidate takes
  for (const auto& shares : candidates) {
    if (begin && stop_asked && stop_asked()) {
      run.stopped = true;
      break;
    }
    if (begin && most.count() > 0 && clock.steady() - *begin + one > most) {
      run.calibration.left_out.push_back(shares);
      continue;
    }
    const auto started = clock.steady();
    run.engine.reset();
    auto measured = make_and_measure(shares, make, clock, most, run.engine, begin);
    if (!measured && run.calibration.measured.empty()) return tl::unexpected(measured.error());
    if (!measured) {
      run.engine.reset();
      run.calibration.left_out.push_back(shares);
      continue;
    }
    run.shares = shares;
    run.calibration.measured.push_back({shares, *measured});
    if (keep && run.calibration.measured.size() == 1) keep(run.calibration);
    one = std::max(one, clock.steady() - started);
  }
  run.stopped = run.stopped || (stop_asked && stop_asked());
  const auto chosen = choose_measured(run.calibration.measured);
  if (!run.stopped && (!run.engine || chosen != run.shares)) {
    run.engine.reset();
    auto engine = make(chosen);
    if (!engine) return tl::unexpected(engine.error());
    run.engine = std::move(*engine);
    run.shares = chosen;
  }
  run.calibration.took_s = base::to_s(clock.steady() - *begin);
  return run;
}

}  // namespace headroom::engine
