// The engine that runs Kokoro on the CPU through OpenVINO: front and last layer in float32, the vocoder
// between them in float32 or bfloat16.
//
// Checks every file of the model directory against its manifest before it loads one. One compiled model of
// each part (one copy of the weights) serves `workers` infer requests. Does not warm up, choose the number of
// workers, or limit requests. Thread safety and units: see engine.hpp; more callers than workers wait for a
// free one. Errors: kNotFound, kInvalidData (model files; see manifest.hpp), kInvalidArgument (options or
// segment), kInternal (the runtime failed). Source of the model's inputs: tokens int64[1,n+2] with a 0 at
// both ends, style f32[1,256], speed f32[1].
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/precision.hpp"

namespace headroom::engine {

struct OpenVinoOptions {
  std::string model_dir = {};  // holds manifest.json
  std::string cache_dir = {};  // compiled models are kept here for the next start; empty: not kept
  int workers = 1;             // infer requests that run at the same time
  int threads = 1;             // cores that each of them uses
  Precision precision = Precision::kAuto;
  // Called as loading goes on, with the names of the stage log: weights_fetched, framework_init,
  // weights_ready.
  std::function<void(std::string_view)> on_stage = {};
  // Called with what the log should say although loading goes on; from another thread, one call at a time.
  std::function<void(std::string_view)> on_warning = {};
};

base::Result<std::unique_ptr<Engine>> make_openvino_engine(const OpenVinoOptions& options);

}  // namespace headroom::engine
