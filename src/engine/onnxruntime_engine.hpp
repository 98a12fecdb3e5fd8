// The engine that runs Kokoro through ONNX Runtime, on the CPU or on an NVIDIA GPU: the whole graph in
// float32.
//
// Checks every file of the model directory against its manifest before it loads one; the directory is the one
// that holds onnx/model.onnx. One session (one copy of the weights) serves `workers` callers. Does not warm
// up, choose the number of workers, or limit requests. Thread safety and units: see engine.hpp; more callers
// than workers wait for a free one. Errors: kNotFound (no ONNX Runtime, or model files; see manifest.hpp),
// kInvalidData (model files), kInvalidArgument (options or segment), kUnsupported (this build or that library
// cannot do it), kUnavailable (CUDA does not start here), kInternal (the runtime failed).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/engine.hpp"

namespace headroom::engine {

enum class Device { kCpu, kCuda };

struct OnnxRuntimeOptions {
  std::string model_dir = {};  // holds manifest.json
  std::string library = {};    // libonnxruntime.so; empty: looked for (onnxruntime_library.hpp)
  Device device = Device::kCpu;
  int workers = 1;  // segments that run at the same time
  int threads = 1;  // cores that each of them uses
  // Called as loading goes on, with the names of the stage log: weights_fetched, framework_init,
  // weights_ready.
  std::function<void(std::string_view)> on_stage = {};
};

base::Result<std::unique_ptr<Engine>> make_onnxruntime_engine(const OnnxRuntimeOptions& options);

}  // namespace headroom::engine
