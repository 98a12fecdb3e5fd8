// Sets the session up and passes tensors in and out.
#include "engine/onnxruntime_session.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <onnxruntime_run_options_config_keys.h>
#include <onnxruntime_session_options_config_keys.h>

namespace headroom::engine {
namespace {

constexpr std::array kInputs{"tokens", "style", "speed"};

// Segments have all lengths: an exhaustive search for the fastest convolution, which is the default, would
// run for each new one, and its choice changes with the load and the last bits of the sound with it.
constexpr std::array kCudaKeys{"device_id", "cudnn_conv_algo_search", "use_tf32", "arena_extend_strategy"};
constexpr std::array kCudaValues{"0", "HEURISTIC", "0", "kSameAsRequested"};

void append_cuda(Ort::SessionOptions& session) {
  const OrtApi& api = Ort::GetApi();
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&cuda));
  const auto release = [&api](OrtCUDAProviderOptionsV2* p) { api.ReleaseCUDAProviderOptions(p); };
  const std::unique_ptr<OrtCUDAProviderOptionsV2, decltype(release)> owner(cuda, release);
  Ort::ThrowOnError(
      api.UpdateCUDAProviderOptions(cuda, kCudaKeys.data(), kCudaValues.data(), kCudaKeys.size()));
  session.AppendExecutionProvider_CUDA_V2(*cuda);
}

Ort::SessionOptions session_options(const OnnxRuntimeOptions& options) {
  Ort::SessionOptions session;
  // Each caller works itself, and all share the helpers: workers callers with threads - 1 helpers each.
  session.SetIntraOpNumThreads(options.workers * (options.threads - 1) + 1);
  session.SetInterOpNumThreads(1);
  session.SetExecutionMode(ORT_SEQUENTIAL);
  session.SetGraphOptimizationLevel(ORT_ENABLE_ALL);
  // Memory plans are kept for each length that was ever seen.
  session.DisableMemPattern();
  session.SetDeterministicCompute(true);
  // Idle helpers that spin take the cores from the other workers.
  session.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, "0");
  if (options.device == Device::kCuda) append_cuda(session);
  return session;
}

bool has_input(const Ort::Session& session, std::string_view name) {
  Ort::AllocatorWithDefaultOptions allocator;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    if (session.GetInputNameAllocated(i, allocator).get() == name) return true;
  }
  return false;
}

}  // namespace

OnnxSession::OnnxSession(const Ort::Env& env, const std::string& graph, const OnnxRuntimeOptions& options)
    : cuda_(options.device == Device::kCuda), session_(env, graph.c_str(), session_options(options)) {
  for (const char* name : kInputs) {
    if (!has_input(session_, name))
      throw std::runtime_error(fmt::format("'{}' has no input '{}'", graph, name));
  }
  if (session_.GetOutputCount() != 1)
    throw std::runtime_error(fmt::format("'{}' has {} outputs, not one", graph, session_.GetOutputCount()));
  Ort::AllocatorWithDefaultOptions allocator;
  output_ = session_.GetOutputNameAllocated(0, allocator).get();
}

std::vector<float> OnnxSession::run(std::vector<std::int64_t>& tokens, Style& style, float speed, bool tidy) {
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const std::array<std::int64_t, 2> tokens_shape{1, static_cast<std::int64_t>(tokens.size())};
  const std::array<std::int64_t, 2> style_shape{1, static_cast<std::int64_t>(style.size())};
  const std::array<std::int64_t, 1> speed_shape{1};
  const std::array<Ort::Value, 3> inputs{
      Ort::Value::CreateTensor<std::int64_t>(memory, tokens.data(), tokens.size(), tokens_shape.data(),
                                             tokens_shape.size()),
      Ort::Value::CreateTensor<float>(memory, style.data(), style.size(), style_shape.data(),
                                      style_shape.size()),
      Ort::Value::CreateTensor<float>(memory, &speed, 1, speed_shape.data(), speed_shape.size())};
  Ort::RunOptions run;
  if (tidy)
    run.AddConfigEntry(kOrtRunOptionsConfigEnableMemoryArenaShrinkage, cuda_ ? "cpu:0;gpu:0" : "cpu:0");
  const char* output = output_.c_str();
  const auto outputs = session_.Run(run, kInputs.data(), inputs.data(), inputs.size(), &output, 1);
  const auto count = outputs.front().GetTensorTypeAndShapeInfo().GetElementCount();
  const auto* first = outputs.front().GetTensorData<float>();
  return {first, first + count};
}

}  // namespace headroom::engine
