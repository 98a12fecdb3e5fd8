// OpenVINO behind the Engine interface.
#include "engine/openvino_engine.hpp"

#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "engine/lane_pool.hpp"
#include "engine/manifest.hpp"
#include "engine/openvino_graphs.hpp"
#include "engine/segment_input.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {
namespace {

using base::ErrorCode;
using base::fail;

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

class OpenVinoEngine final : public Engine {
 public:
  OpenVinoEngine(ov::Core core, std::unique_ptr<OpenVinoGraphs> graphs, VoiceTable voices, int sample_rate,
                 int workers)
      : core_(std::move(core)),
        graphs_(std::move(graphs)),
        voices_(std::move(voices)),
        sample_rate_(sample_rate),
        workers_(workers),
        pool_(workers) {}

  base::Result<std::vector<float>> synthesize(const Segment& segment) override {
    if (auto valid = check_segment(segment); !valid) return tl::unexpected(valid.error());
    auto style = voices_.style(segment.voice, segment.tokens.size());
    if (!style) return tl::unexpected(style.error());
    auto tokens = padded_tokens(segment);

    const auto lane = pool_.take();
    return guarded("synthesizing", [&]() -> base::Result<std::vector<float>> {
      auto samples = graphs_->run(lane.index(), tokens, *style, segment.speed);
      if (auto valid = check_samples(samples); !valid) return tl::unexpected(valid.error());
      return samples;
    });
  }

  int sample_rate() const override { return sample_rate_; }
  int workers() const override { return workers_; }
  const std::vector<std::string>& voices() const override { return voices_.names(); }
  std::string_view name() const override { return "openvino"; }

 private:
  ov::Core core_;  // outlives what it compiled
  std::unique_ptr<OpenVinoGraphs> graphs_;
  VoiceTable voices_;
  int sample_rate_;
  int workers_;
  LanePool pool_;
};

base::Result<void> check_options(const OpenVinoOptions& options) {
  const auto within = [](int n) { return n >= 1 && n <= kMaxWorkers; };
  if (within(options.workers) && within(options.threads)) return {};
  return fail(ErrorCode::kInvalidArgument, fmt::format("workers ({}) and threads ({}) must be 1 to {}",
                                                       options.workers, options.threads, kMaxWorkers));
}

}  // namespace

base::Result<std::unique_ptr<Engine>> make_openvino_engine(const OpenVinoOptions& options) {
  if (auto valid = check_options(options); !valid) return tl::unexpected(valid.error());
  auto manifest = load_manifest(options.model_dir);
  if (!manifest) return tl::unexpected(manifest.error());
  if (auto whole = verify_files(*manifest); !whole) return tl::unexpected(whole.error());
  for (const char* graph : {kFrontGraph, kVocoderGraph, kTailGraph}) {
    if (!manifest->lists(graph)) {
      return fail(ErrorCode::kInvalidData,
                  fmt::format("the manifest of '{}' lists no {}; run ./dev setup", options.model_dir, graph));
    }
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
    auto graphs = std::make_unique<OpenVinoGraphs>(core, *manifest, options);
    std::unique_ptr<Engine> engine = std::make_unique<OpenVinoEngine>(
        std::move(core), std::move(graphs), std::move(*voices), manifest->sample_rate, options.workers);
    tell(options, "weights_ready");
    return engine;
  });
}

}  // namespace headroom::engine
