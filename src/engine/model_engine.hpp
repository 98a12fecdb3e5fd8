// Makes the engine that speaks with the model, from what options say: which runtime, how many workers and
// threads.
//
// Does not make the paced engine (it has no model) and does not warm up. Thread safe. Errors: those of the
// engines, and kInvalidArgument for a runtime or device that this build does not have. Units: cores.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/precision.hpp"

namespace headroom::engine {

struct ModelEngineOptions {
  std::string engine = "openvino";
  std::string model_dir = {};
  std::string cache_dir = {};
  int workers = 0;  // segments synthesised at once; 0: chosen
  int threads = 0;  // per worker; 0: chosen
  Precision precision = Precision::kAuto;
  std::function<void(std::string_view)> on_stage = {};
};

struct ModelEngine {
  std::unique_ptr<Engine> engine;
  std::string summary;  // "openvino precision=bf16 workers=2 threads=1", for the log
};

base::Result<ModelEngine> make_model_engine(const ModelEngineOptions& options);

struct Shares {
  int workers = 1;
  int threads = 1;
};

// Two workers where there are cores for them, so that a short request need not wait for a long one; the rest
// of the cores become threads of each worker. What is not 0 stays as wished.
Shares choose_shares(int cores, int workers, int threads);

}  // namespace headroom::engine
