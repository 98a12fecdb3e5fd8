// The loaded ONNX graph and what runs one segment through it. Internal: shows ONNX Runtime.
//
// One session, so one copy of the weights, for any number of callers at once. Throws what ONNX Runtime
// throws; the engine turns that into values. Units: see engine.hpp. Source of the names: the exported graph
// (inputs tokens, style, speed; its only output is the sound).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include "engine/onnxruntime_engine.hpp"
#include "engine/onnxruntime_library.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {

class OnnxSession {
 public:
  // `options` are checked. Appends the CUDA provider where the device is one.
  OnnxSession(const Ort::Env& env, const std::string& graph, const OnnxRuntimeOptions& options);

  // `tidy`: gives the memory of the intermediate results back afterwards, instead of keeping it for the next
  // segment.
  std::vector<float> run(std::vector<std::int64_t>& tokens, Style& style, float speed, bool tidy);

 private:
  bool cuda_;
  std::string output_;
  Ort::Session session_{nullptr};
};

}  // namespace headroom::engine
