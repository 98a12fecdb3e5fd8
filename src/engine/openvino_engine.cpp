// OpenVINO behind the Engine interface.
#include "engine/openvino_engine.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>

#include <fmt/format.h>

#include "engine/compile_cache.hpp"
#include "engine/lane_pool.hpp"
#include "engine/manifest.hpp"
#include "engine/mapped_files.hpp"
#include "engine/openvino_graphs.hpp"
#include "engine/runtime_guard.hpp"
#include "engine/segment_input.hpp"
#include "engine/shares.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Intermediate results take 21 MB for a second of speech and are kept for the next segment, unless they came
// from a longer one than this: then they are given back.
constexpr std::size_t kKeptSamples = std::size_t{24'000} * 14;

void tell(const OpenVinoOptions& options, std::string_view stage) {
  if (options.on_stage) options.on_stage(stage);
}

constexpr std::string_view kRuntime = "OpenVINO";

class OpenVinoEngine final : public Engine {
 public:
  OpenVinoEngine(const OpenVinoOptions& options, ov::Core core, std::unique_ptr<OpenVinoGraphs> graphs,
                 VoiceTable voices, int sample_rate)
      : cache_dir_(options.cache_dir),
        core_(std::move(core)),
        graphs_(std::move(graphs)),
        voices_(std::move(voices)),
        sample_rate_(sample_rate),
        workers_(options.workers),
        pool_(options.workers) {}

  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    if (auto valid = check_segment(segment); !valid) return tl::unexpected(valid.error());
    auto style = voices_.style(segment.voice, segment.tokens.size());
    if (!style) return tl::unexpected(style.error());
    auto tokens = padded_tokens(segment);

    auto samples =
        guarded(kRuntime, ErrorCode::kInternal, "synthesizing", [&]() -> base::Result<std::vector<float>> {
          const auto lane = pool_.take();
          return graphs_->run(lane.index(), tokens, *style, segment.speed);
        });
    if (!samples) return samples;
    tidy(samples->size());
    if (auto valid = check_samples(*samples); !valid) return tl::unexpected(valid.error());
    return samples;
  }

  int sample_rate() const override { return sample_rate_; }
  int workers() const override { return workers_; }
  const std::vector<std::string>& voices() const override { return voices_.names(); }
  std::string_view name() const override { return "openvino"; }

 private:
  // Memory that cannot be given back now is no fault of the segment, which is spoken: the next long one tries
  // again.
  void tidy(std::size_t samples) {
    // The weights were packed by the first runs, and the mapped files that they came from are not read again.
    if (runs_.fetch_add(1) < 4 * workers_) release_mapped_files(cache_dir_);
    if (samples <= kKeptSamples) return;
    static_cast<void>(
        guarded(kRuntime, ErrorCode::kInternal, "giving memory back", [&]() -> base::Result<void> {
          pool_.alone([&] { graphs_->release_memory(); });
          return {};
        }));
  }

  std::string cache_dir_;
  std::atomic<int> runs_ = 0;
  ov::Core core_;  // outlives what it compiled
  std::unique_ptr<OpenVinoGraphs> graphs_;
  VoiceTable voices_;
  int sample_rate_;
  int workers_;
  LanePool pool_;
};

base::Result<ov::Core> start_runtime() {
  return guarded(kRuntime, ErrorCode::kInternal, "starting", []() -> base::Result<ov::Core> {
    ov::Core core;
    core.get_property("CPU", ov::device::full_name);  // loads the plugin
    return core;
  });
}

// The runtime's key holds the file's path, not its content: a folder per model keeps an old graph from coming
// back. Null: compiled graphs are not kept, or not to be trusted.
std::unique_ptr<CompileCache> open_cache(const OpenVinoOptions& options, const Manifest& manifest) {
  if (options.cache_dir.empty()) return nullptr;
  auto cache = std::make_unique<CompileCache>(std::filesystem::path(options.cache_dir) /
                                              manifest.sha256.substr(0, 16));
  const auto dropped = cache->drop_damaged();
  if (options.on_warning) {
    for (const auto& graph : dropped) {
      options.on_warning(fmt::format(
          "compiled graph '{}' is damaged or has no sum; {}", graph,
          cache->usable() ? "it is compiled anew" : "it cannot be removed, so the cache is not used"));
    }
  }
  return cache->usable() ? std::move(cache) : nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Engine>> make_openvino_engine(const OpenVinoOptions& options) {
  if (auto valid = check_shares({options.workers, options.threads}); !valid)
    return tl::unexpected(valid.error());
  auto manifest = load_manifest(options.model_dir);
  if (!manifest) return tl::unexpected(manifest.error());
  for (const char* graph : {kFrontGraph, kVocoderGraph}) {
    if (!manifest->lists(graph)) {
      return fail(ErrorCode::kInvalidData,
                  fmt::format("the manifest of '{}' lists no {}; run ./dev setup (a directory of ONNX "
                              "Runtime is for --engine onnxruntime)",
                              options.model_dir, graph));
    }
  }
  if (auto checked = check_nothing_unlisted(*manifest); !checked) return tl::unexpected(checked.error());
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  ::setenv("TBB_ENABLE_SANITIZERS", "1",
           0);  // else TBB opens a library with RTLD_DEEPBIND, on which they abort
#endif
  // While the files are read and hashed, the runtime starts, which looks at none of them.
  auto starting = std::async(std::launch::async, [] { return start_runtime(); });
  auto opening = std::async(std::launch::async, [&] { return open_cache(options, *manifest); });
  auto whole = verify_files(*manifest);
  auto core = starting.get();
  auto cache = opening.get();
  if (!whole) return tl::unexpected(whole.error());
  auto voices = VoiceTable::load(*manifest);
  if (!voices) return tl::unexpected(voices.error());
  tell(options, "weights_fetched");
  if (!core) return tl::unexpected(core.error());
  tell(options, "framework_init");
  return guarded(
      kRuntime, ErrorCode::kInternal, "loading the model", [&]() -> base::Result<std::unique_ptr<Engine>> {
        auto graphs = std::make_unique<OpenVinoGraphs>(*core, *manifest, options, cache.get());
        cache.reset();
        std::unique_ptr<Engine> engine = std::make_unique<OpenVinoEngine>(
            options, std::move(*core), std::move(graphs), std::move(*voices), manifest->sample_rate);
        tell(options, "weights_ready");
        return engine;
      });
}

}  // namespace headroom::engine
