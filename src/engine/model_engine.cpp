// Chooses shares of the cores and makes the engine.
#include "engine/model_engine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.hpp"
#include "engine/calibration.hpp"
#include "engine/calibration_file.hpp"
#include "engine/cpu_limits.hpp"
#include "engine/manifest.hpp"
#include "engine/openvino_engine.hpp"
#include "engine/shares.hpp"

namespace headroom::engine {
namespace {

constexpr auto kMostCalibrating = std::chrono::seconds(6);  // what a first start may take longer
constexpr std::string_view kLastStage = "weights_ready";

base::Result<std::unique_ptr<Engine>> make_engine(const ModelEngineOptions& options, const Shares& shares) {
  if (options.engine == "onnxruntime") {
    return make_onnxruntime_engine({options.model_dir, options.onnxruntime_library, options.device,
                                    shares.workers, shares.threads, options.on_stage});
  }
  return make_openvino_engine({options.model_dir, options.cache_dir, shares.workers, shares.threads,
                               options.precision, options.on_stage, options.on_warning});
}

std::string runtime_of(const ModelEngineOptions& options) {
  if (options.engine == "onnxruntime")
    return fmt::format("onnxruntime device={} precision=f32",
                       options.device == Device::kCuda ? "cuda" : "cpu");
  return fmt::format("openvino precision={}",
                     precision_name(resolve_precision(options.precision, cpu_features())));
}

base::Result<void> check_runtime(const ModelEngineOptions& options) {
  if (options.device == Device::kCuda && options.engine != "onnxruntime") {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      fmt::format("engine {} has no device cuda; use --engine onnxruntime, or --device cpu",
                                  options.engine));
  }
  return {};
}

std::string cores_of(const CpuLimits& limits) {
  return limits.quota ? fmt::format("{} cores: affinity {}, CPU quota {:.2f}", limits.cores(),
                                    limits.affinity, *limits.quota)
                      : fmt::format("{} cores: affinity {}, no CPU quota", limits.cores(), limits.affinity);
}

// Why nothing is measured, or nothing when it is.
std::string reason_not_to(const ModelEngineOptions& options, const CpuLimits& limits) {
  if (options.workers > 0 || options.threads > 0) return "as the options say; " + cores_of(limits);
  const auto standard = "the default for " + cores_of(limits);
  if (options.device == Device::kCuda || candidate_shares(limits.cores()).size() < 2) return standard;
  if (options.calibrate == CalibrateMode::kOff) return standard + "; not calibrated";
  if (options.calibrate == CalibrateMode::kAuto && options.cache_dir.empty())
    return standard + "; not calibrated without --cache-dir";
  return {};
}

// Held by the one process that measures in a cache folder. Another would disturb it, and takes the default.
class MeasuringLock {
 public:
  explicit MeasuringLock(const std::string& folder) {
    if (folder.empty()) return;
    static_cast<void>(base::make_directories(folder));
    file_ = ::open((folder + "/.calibrating").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    writable_ = file_ >= 0;
    taken_ = writable_ && ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }
  ~MeasuringLock() {
    if (file_ >= 0) ::close(file_);
  }
  MeasuringLock(const MeasuringLock&) = delete;
  MeasuringLock& operator=(const MeasuringLock&) = delete;
  bool taken_by_another() const { return taken_; }
  bool writable() const { return writable_; }

 private:
  int file_ = -1;
  bool writable_ = true;
  bool taken_ = false;
};

ModelEngine finished(const ModelEngineOptions& options, std::unique_ptr<Engine> engine, const Shares& shares,
                     const std::string& why) {
  return {std::move(engine), fmt::format("{} workers={} threads={} ({})", runtime_of(options), shares.workers,
                                         shares.threads, why)};
}

base::Result<ModelEngine> make_with(const ModelEngineOptions& options, const Shares& shares,
                                    const std::string& why) {
  auto engine = make_engine(options, shares);
  if (!engine) return tl::unexpected(engine.error());
  return finished(options, std::move(*engine), shares, why);
}

// After a calibration that was left early: what was known, or nothing, so that the next start measures.
void put_back(const std::string& folder, const CalibrationKey& key, const std::optional<Calibration>& known) {
  if (folder.empty()) return;
  if (known)
    static_cast<void>(write_calibration(folder, key, *known));
  else
    static_cast<void>(std::remove(calibration_path(folder, key).c_str()));
}

// The engines that are measured load several times; the stage log gets each stage once, the last of them when
// the engine that stays is there.
base::Result<ModelEngine> make_measured(const ModelEngineOptions& options, const CalibrationKey& key) {
  auto quiet = options;
  std::vector<std::string> told;
  quiet.on_stage = [&](std::string_view stage) {
    if (stage == kLastStage || std::find(told.begin(), told.end(), stage) != told.end()) return;
    told.emplace_back(stage);
    if (options.on_stage) options.on_stage(stage);
  };
  const auto most = options.calibrate == CalibrateMode::kForce ? base::Duration{} : kMostCalibrating;
  const auto before = read_calibration(options.cache_dir, key);
  const KeepDefault keep = [&](const Calibration& so_far) {
    if (!options.cache_dir.empty()) static_cast<void>(write_calibration(options.cache_dir, key, so_far));
  };
  auto run = calibrate(
      candidate_shares(key.limits.cores()), [&](const Shares& shares) { return make_engine(quiet, shares); },
      base::SystemClock::instance(), most, keep, options.stop_asked);
  if (!run) return tl::unexpected(run.error());
  if (run->stopped) {
    put_back(options.cache_dir, key, before);
    return base::fail(base::ErrorCode::kCancelled, "asked to stop while calibrating");
  }
  if (options.on_stage) options.on_stage(kLastStage);
  ::malloc_trim(0);
  std::string kept = "kept for the next start";
  if (options.cache_dir.empty()) {
    kept = "not kept without --cache-dir";
  } else if (auto written = write_calibration(options.cache_dir, key, run->calibration); !written) {
    kept = "not kept: " + written.error().message;
  }
  return finished(options, std::move(run->engine), run->shares,
                  fmt::format("calibrated in {:.1f} s, seconds of speech a second: {}; {}",
                              run->calibration.took_s, describe(run->calibration), kept));
}

}  // namespace

CalibrateMode parse_calibrate(std::string_view name) {
  if (name == "off") return CalibrateMode::kOff;
  return name == "force" ? CalibrateMode::kForce : CalibrateMode::kAuto;
}

void bound_kept_memory() {
  ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", 0);
  if (std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

base::Result<ModelEngine> make_model_engine(const ModelEngineOptions& options) {
  if (auto valid = check_runtime(options); !valid) return tl::unexpected(valid.error());
  const auto limits = cpu_limits();
  const auto standard = choose_shares(limits.cores(), options.workers, options.threads);
  if (const auto reason = reason_not_to(options, limits); !reason.empty())
    return make_with(options, standard, reason);

  const auto manifest = load_manifest(options.model_dir);
  if (!manifest) return tl::unexpected(manifest.error());
  const bool narrow = options.engine == "openvino";
  const CalibrationKey key{
      options.engine,
      std::string(
          precision_name(narrow ? resolve_precision(options.precision, cpu_features()) : Precision::kF32)),
      cpu_model(),
      manifest->sha256,
      limits,
      HEADROOM_VERSION};
  if (options.calibrate == CalibrateMode::kAuto) {
    if (const auto known = read_calibration(options.cache_dir, key))
      return make_with(options, choose_measured(known->measured),
                       fmt::format("calibrated before: {}", describe(*known)));
  }
  const MeasuringLock lock(options.cache_dir);
  if (lock.taken_by_another())
    return make_with(options, standard,
                     "the default for " + cores_of(limits) + "; another process is calibrating");
  if (!lock.writable() && options.calibrate == CalibrateMode::kAuto)  // else every start would take that time
    return make_with(options, standard,
                     "the default for " + cores_of(limits) +
                         "; not calibrated, since nothing can be kept in " + options.cache_dir);
  return make_measured(options, key);
}

}  // namespace headroom::engine
