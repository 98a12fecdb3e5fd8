// Paced engine: no model; a tone of Kokoro's duration after a set service time. For capacity experiments
// only.
//
// One service per request inside one serial section, overhead outside it (SPEC 1.3): with N outstanding in a
// closed loop, time to first audio is N x service. Whoever reports a number from it says that it is paced.
// Units: milliseconds; characters. Thread safe. Errors: none.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace headroom::engine {

struct PacedOptions {
  double service_ms = 55.9;
  double overhead_ms = 4.1;
  double jitter = 0.01;  // coefficient of variation of the service time, normal, cut at three deviations
  std::uint64_t seed = 1;
};

std::unique_ptr<Engine> make_paced_engine(const PacedOptions& options);

// What Kokoro takes to say so many characters of English, measured: about 15 characters a second and the
// silence around them.
double spoken_seconds(std::size_t characters, float speed);

}  // namespace headroom::engine
