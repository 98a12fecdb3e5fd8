// ONNX Runtime behind the Engine interface.
#include "engine/onnxruntime_engine.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <malloc.h>

#include "engine/lane_pool.hpp"
#include "engine/manifest.hpp"
#include "engine/onnxruntime_library.hpp"
#include "engine/onnxruntime_session.hpp"
#include "engine/runtime_guard.hpp"
#include "engine/segment_input.hpp"
#include "engine/shares.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr const char* kGraph = "onnx/model.onnx";

// Memory of intermediate results is kept for the next segment, unless the segment has more tokens at normal
// speed than the server ever gives it (about 13 s of speech).
constexpr double kKeptTokens = 200;

void tell(const OnnxRuntimeOptions& options, std::string_view stage) {
  if (options.on_stage) options.on_stage(stage);
}

constexpr std::string_view kRuntime = "ONNX Runtime";

class OnnxRuntimeEngine final : public Engine {
 public:
  OnnxRuntimeEngine(int workers, Ort::Env env, std::unique_ptr<OnnxSession> session, VoiceTable voices,
                    int sample_rate)
      : env_(std::move(env)),
        session_(std::move(session)),
        voices_(std::move(voices)),
        sample_rate_(sample_rate),
        workers_(workers),
        pool_(workers) {}

  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    if (auto valid = check_segment(segment); !valid) return tl::unexpected(valid.error());
    auto style = voices_.style(segment.voice, segment.tokens.size());
    if (!style) return tl::unexpected(style.error());
    auto tokens = padded_tokens(segment);
    const bool tidy = static_cast<double>(segment.tokens.size()) / segment.speed > kKeptTokens;

    auto samples =
        guarded(kRuntime, ErrorCode::kInternal, "synthesizing", [&]() -> base::Result<std::vector<float>> {
          const auto lane = pool_.take();
          return session_->run(tokens, *style, segment.speed, tidy);
        });
    if (!samples) return samples;
    if (tidy) ::malloc_trim(0);
    if (auto valid = check_samples(*samples); !valid) return tl::unexpected(valid.error());
    return samples;
  }

  int sample_rate() const override { return sample_rate_; }
  int workers() const override { return workers_; }
  const std::vector<std::string>& voices() const override { return voices_.names(); }
  std::string_view name() const override { return "onnxruntime"; }

 private:
  Ort::Env env_;  // outlives the session
  std::unique_ptr<OnnxSession> session_;
  VoiceTable voices_;
  int sample_rate_;
  int workers_;
  LanePool pool_;
};

// Says what is missing before ONNX Runtime does, whose own words name neither the file nor the remedy.
base::Result<void> check_cuda(const OnnxRuntimeLibrary& library) {
  const auto providers = Ort::GetAvailableProviders();
  if (std::find(providers.begin(), providers.end(), "CUDAExecutionProvider") == providers.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the ONNX Runtime {} in '{}' is one for the CPU only; name the library of "
                            "onnxruntime-gpu with --onnxruntime-library, or use --device cpu",
                            library.version, library.folder));
  }
  for (const char* name : {"libonnxruntime_providers_shared.so", "libonnxruntime_providers_cuda.so"}) {
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::path(library.folder) / name, ignored)) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is missing in '{}'; put it beside libonnxruntime.so (both are in the package "
                            "onnxruntime-gpu), or use --device cpu",
                            name, library.folder));
  }
  return {};
}

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

bool names_cuda(const base::Error& error) {
  const auto has = [&](std::string_view word) { return error.context.find(word) != std::string::npos; };
  return has("CUDA") || has("cuda") || has("cuDNN") || has("cudnn");
}

base::Result<std::unique_ptr<OnnxSession>> make_session(const Ort::Env& env, const Manifest& manifest,
                                                        const OnnxRuntimeOptions& options) {
  const bool cuda = options.device == Device::kCuda;
  auto session = guarded(kRuntime, ErrorCode::kInternal, "loading the model",
                         [&]() -> base::Result<std::unique_ptr<OnnxSession>> {
                           return std::make_unique<OnnxSession>(env, manifest.full_path(kGraph), options);
                         });
  // CUDA says its name in whatever it complains of; another fault is of the model or of memory.
  if (session || !cuda || !names_cuda(session.error())) return session;
  return fail(
      ErrorCode::kUnavailable,
      "CUDA does not start here: it needs an NVIDIA GPU that this process may use (a container: --gpus "
      "all), its driver, and on the library path the CUDA and cuDNN that this ONNX Runtime was built for "
      "(onnxruntime-gpu 1.31: CUDA 13, cuDNN 9); or use --device cpu",
      trimmed(session.error().context));
}

}  // namespace

base::Result<std::unique_ptr<Engine>> make_onnxruntime_engine(const OnnxRuntimeOptions& options) {
  if (auto valid = check_shares({options.workers, options.threads}); !valid)
    return tl::unexpected(valid.error());
  auto manifest = load_manifest(options.model_dir);
  if (!manifest) return tl::unexpected(manifest.error());
  if (!manifest->lists(kGraph)) {
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("the manifest of '{}' lists no {}; ./dev setup makes such a directory beside the one "
                    "for OpenVINO: models/kokoro-82m-onnx",
                    options.model_dir, kGraph));
  }
  if (auto checked = check_nothing_unlisted(*manifest); !checked) return tl::unexpected(checked.error());
  auto library = open_onnxruntime(options.library);
  if (!library) return tl::unexpected(library.error());
  Ort::InitApi(library->api);
  if (options.device == Device::kCuda) {
    if (auto there = check_cuda(*library); !there) return tl::unexpected(there.error());
  }
  if (auto whole = verify_files(*manifest); !whole) return tl::unexpected(whole.error());
  auto voices = VoiceTable::load(*manifest);
  if (!voices) return tl::unexpected(voices.error());
  tell(options, "weights_fetched");
  return guarded(kRuntime, ErrorCode::kInternal, "starting", [&]() -> base::Result<std::unique_ptr<Engine>> {
    Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "headroom");
    tell(options, "framework_init");
    auto session = make_session(env, *manifest, options);
    if (!session) return tl::unexpected(session.error());
    std::unique_ptr<Engine> engine = std::make_unique<OnnxRuntimeEngine>(
        options.workers, std::move(env), std::move(*session), std::move(*voices), manifest->sample_rate);
    tell(options, "weights_ready");
    return engine;
  });
}

}  // namespace headroom::engine
