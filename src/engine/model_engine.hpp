// Makes the engine that speaks with the model, from what options say: which runtime, how many workers and
// threads (as wished, measured, or the default for the cores that affinity and CPU quota leave).
//
// Does not make the paced engine (it has no model) and does not warm up. Thread safe. Errors: those of the
// engines, and kInvalidArgument for a device that the runtime does not have. Units: cores.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/onnxruntime_engine.hpp"
#include "engine/precision.hpp"

namespace headroom::engine {

// Whether the way to divide the cores is measured at start. kAuto: once, where the result can be kept (a
// cache folder) and there is more than one way; the next start reads it. kForce: now, however long it takes.
enum class CalibrateMode { kOff, kAuto, kForce };

struct ModelEngineOptions {
  std::string engine = "openvino";  // or "onnxruntime"
  Device device = Device::kCpu;     // kCuda: onnxruntime only
  std::string onnxruntime_library = {};
  std::string model_dir = {};
  std::string cache_dir = {};
  int workers = 0;  // segments synthesised at once; 0: chosen
  int threads = 0;  // per worker; 0: chosen
  Precision precision = Precision::kAuto;
  CalibrateMode calibrate = CalibrateMode::kOff;
  std::function<void(std::string_view)> on_stage = {};
  std::function<void(std::string_view)> on_warning = {};  // see openvino_engine.hpp
  // Whether the process was asked to end meanwhile: calibrating, the one long part of a start, is then left
  // early, without an engine (kCancelled).
  std::function<bool()> stop_asked = {};
};

struct ModelEngine {
  std::unique_ptr<Engine> engine;
  // For the log: "openvino precision=bf16 workers=2 threads=1 (the default for 2 cores: ...)"
  std::string summary;
};

// Bounds the memory that is kept and hardly used again. First thing in main: it changes the environment and
// the allocator's settings, which no other thread may look at meanwhile. Two things are bounded:
// the kernels that oneDNN keeps for shapes it has seen: 1,024 by default, 130 MB that new lengths of speech
// fill within 15 segments; its limit comes from ONEDNN_PRIMITIVE_CACHE_CAPACITY, which wins where it is set;
// and what glibc's arenas keep of freed intermediate results. Each free of a large block raises the size from
// which blocks are mapped by themselves, up to 32 MiB, so that 0.1 to 0.5 GB of them lie in arenas with small
// live blocks between. From 1 MiB on they are mapped always, and go back when freed
// (MALLOC_MMAP_THRESHOLD_ wins where it is set).
void bound_kept_memory();

base::Result<ModelEngine> make_model_engine(const ModelEngineOptions& options);

CalibrateMode parse_calibrate(std::string_view name);  // "off", "force"; everything else is kAuto

}  // namespace headroom::engine
