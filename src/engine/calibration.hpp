// Calibration: measures which way to divide the cores (workers, threads) speaks the most, within a short
// time.
//
// Does not store the result (calibration_file.hpp does). Blocks for as long as it measures; one at a time. A
// candidate is only begun when what the first one took still fits into the time, so that a slow machine
// starts with what it has; where even the first sentence takes a quarter of the time, it alone counts. One
// that cannot be made or does not speak (memory, threads) is left out. Units: seconds of speech in a second.
// Errors: those of the default, of making its engine or of speaking.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/shares.hpp"

namespace headroom::engine {

struct Measured {
  Shares shares;
  double speech_s_per_s = 0;
};

struct Calibration {
  std::vector<Measured> measured;  // the default first; never empty
  std::vector<Shares> left_out;    // no time was left for these, or they do not run here
  double took_s = 0;               // beyond the start of the first engine
};

// The default, unless another is at least a tenth better: less is within what one sentence tells.
Shares choose_measured(const std::vector<Measured>& measured);

// "1x2 of 2x1 3.1, 1x2 3.6" with workers x threads, for the log.
std::string describe(const Calibration& calibration);

struct CalibrationRun {
  Calibration calibration;
  Shares shares;                   // what was chosen
  std::unique_ptr<Engine> engine;  // made with them
  bool stopped = false;            // before all were measured: nothing was chosen, nothing is worth keeping
};

using MakeEngine = std::function<base::Result<std::unique_ptr<Engine>>(const Shares&)>;

// Told after the default was measured, before anything else is tried: who is killed for an alternative's
// memory finds it there and starts with the default.
using KeepDefault = std::function<void(const Calibration&)>;

// Whether the process was asked to end meanwhile: then no other candidate is begun.
using StopAsked = std::function<bool()>;

// Makes one engine after another, never two at once. `candidates`: not empty, the default first. `most`: time
// beyond the start of the first engine; 0: no limit.
base::Result<CalibrationRun> calibrate(const std::vector<Shares>& candidates, const MakeEngine& make,
                                       const base::Clock& clock, base::Duration most,
                                       const KeepDefault& keep = {}, const StopAsked& stop_asked = {});

}  // namespace headroom::engine
