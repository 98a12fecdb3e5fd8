// OpenVINO behind the Engine interface; the only file that sees its headers.
#include "engine/openvino_engine.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include <fmt/format.h>
#include <openvino/openvino.hpp>

#include "base/guarded.hpp"
#include "engine/manifest.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::string_view kGraph = "ir/model.xml";
constexpr const char* kInputs[] = {"tokens", "style", "speed"};
constexpr std::int64_t kPad = 0;
constexpr std::int64_t kLargestToken = 177;  // the embedding has 178 rows; a larger id would read past them
constexpr float kMinSpeed = 0.25F;
constexpr float kMaxSpeed = 4.0F;
constexpr int kMaxWorkers = 256;

void tell(const OpenVinoOptions& options, std::string_view stage) {
  if (options.on_stage) options.on_stage(stage);
}

// Whatever the runtime throws becomes a value; its text is context for the log, never for a client.
template <class F>
auto guarded(std::string_view doing, F&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, fmt::format("OpenVINO failed while {}", doing), error.what());
  } catch (...) {
    return fail(ErrorCode::kInternal, fmt::format("OpenVINO failed while {}", doing), "unknown exception");
  }
}

ov::AnyMap compile_properties(const OpenVinoOptions& options, const Manifest& manifest) {
  ov::AnyMap properties{
      ov::hint::inference_precision(ov::element::f32),
      ov::num_streams(options.workers),
      ov::inference_num_threads(options.workers * options.threads),
      // The process may be one of several on this machine and may be pinned from outside already.
      ov::hint::enable_cpu_pinning(false),
  };
  if (!options.cache_dir.empty()) {
    // The runtime's key holds the file's path, not its content: a folder per model keeps an old graph from
    // coming back.
    const auto folder = std::filesystem::path(options.cache_dir) / manifest.sha256.substr(0, 16);
    properties.insert(ov::cache_dir(folder.string()));
  }
  return properties;
}

class OpenVinoEngine final : public Engine {
 public:
  OpenVinoEngine(ov::CompiledModel compiled, VoiceTable voices, int sample_rate, int workers)
      : compiled_(std::move(compiled)),
        voices_(std::move(voices)),
        sample_rate_(sample_rate),
        workers_(workers) {
    for (int i = 0; i < workers; ++i) {
      requests_.push_back(compiled_.create_infer_request());
      free_.lock()->push_back(i);
    }
  }

  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    if (auto valid = check(segment); !valid) return tl::unexpected(valid.error());
    auto style = voices_.style(segment.voice, segment.tokens.size());
    if (!style) return tl::unexpected(style.error());

    const int index = take();
    auto samples = guarded("synthesizing",
                           [&] { return run(requests_[static_cast<std::size_t>(index)], segment, *style); });
    give_back(index);
    return samples;
  }

  int sample_rate() const override { return sample_rate_; }
  int workers() const override { return workers_; }
  const std::vector<std::string>& voices() const override { return voices_.names(); }
  std::string_view name() const override { return "openvino"; }

 private:
  static base::Result<void> check(const Segment& segment) {
    if (segment.tokens.empty() || segment.tokens.size() > static_cast<std::size_t>(kMaxTokens)) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("a segment has 1 to {} tokens, this one {}",
                                                           kMaxTokens, segment.tokens.size()));
    }
    for (const auto token : segment.tokens) {
      if (token < 0 || token > kLargestToken) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("token {} is outside the vocabulary 0..{}", token, kLargestToken));
      }
    }
    if (!(segment.speed >= kMinSpeed && segment.speed <= kMaxSpeed)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("speed {} is outside {}..{}", segment.speed, kMinSpeed, kMaxSpeed));
    }
    return {};
  }

  static base::Result<std::vector<float>> run(ov::InferRequest& request, const Segment& segment,
                                              const Style& style) {
    ov::Tensor tokens(ov::element::i64, {1, segment.tokens.size() + 2});
    auto* ids = tokens.data<std::int64_t>();
    ids[0] = kPad;
    std::copy(segment.tokens.begin(), segment.tokens.end(), ids + 1);
    ids[segment.tokens.size() + 1] = kPad;
    ov::Tensor voice(ov::element::f32, {1, kStyleSize});
    std::copy(style.begin(), style.end(), voice.data<float>());
    ov::Tensor speed(ov::element::f32, {1});
    *speed.data<float>() = segment.speed;

    request.set_tensor(kInputs[0], tokens);
    request.set_tensor(kInputs[1], voice);
    request.set_tensor(kInputs[2], speed);
    request.infer();

    const ov::Tensor audio = request.get_output_tensor();
    const auto* first = audio.data<const float>();
    std::vector<float> samples(first, first + audio.get_size());
    if (!std::all_of(samples.begin(), samples.end(), [](float v) { return std::isfinite(v); })) {
      return fail(ErrorCode::kInternal, "the model gave a sample that is not a number");
    }
    return samples;
  }

  int take() {
    auto free = free_.lock();
    free.wait(freed_, [&] { return !free->empty(); });
    const int index = free->back();
    free->pop_back();
    return index;
  }

  void give_back(int index) {
    free_.lock()->push_back(index);
    freed_.notify_one();
  }

  ov::CompiledModel compiled_;
  VoiceTable voices_;
  int sample_rate_;
  int workers_;
  std::vector<ov::InferRequest> requests_;
  base::Guarded<std::vector<int>> free_;  // indexes into requests_
  std::condition_variable freed_;
};

}  // namespace

base::Result<std::unique_ptr<Engine>> make_openvino_engine(const OpenVinoOptions& options) {
  if (options.workers < 1 || options.workers > kMaxWorkers || options.threads < 1 ||
      options.threads > kMaxWorkers) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("workers ({}) and threads ({}) must be 1 to {}",
                                                         options.workers, options.threads, kMaxWorkers));
  }
  auto manifest = load_manifest(options.model_dir);
  if (!manifest) return tl::unexpected(manifest.error());
  if (auto whole = verify_files(*manifest); !whole) return tl::unexpected(whole.error());
  if (!manifest->lists(kGraph)) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("the manifest of '{}' lists no {}; run ./dev setup", options.model_dir, kGraph));
  }
  auto voices = VoiceTable::load(*manifest);
  if (!voices) return tl::unexpected(voices.error());
  tell(options, "weights_fetched");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  ::setenv("TBB_ENABLE_SANITIZERS", "1",
           0);  // else TBB opens a library with RTLD_DEEPBIND, on which they abort
#endif
  return guarded("loading the model", [&]() -> base::Result<std::unique_ptr<Engine>> {
    ov::Core core;
    core.get_property("CPU",
                      ov::device::full_name);  // loads the CPU plugin, so that the stage means something
    tell(options, "framework_init");
    auto compiled =
        core.compile_model(manifest->full_path(kGraph), "CPU", compile_properties(options, *manifest));
    for (const char* input : kInputs)
      static_cast<void>(compiled.input(input));  // throws on a graph without it
    std::unique_ptr<Engine> engine = std::make_unique<OpenVinoEngine>(std::move(compiled), std::move(*voices),
                                                                      manifest->sample_rate, options.workers);
    tell(options, "weights_ready");
    return engine;
  });
}

}  // namespace headroom::engine
