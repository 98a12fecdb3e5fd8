// Stands in for the ONNX Runtime engine in a build without its headers: says so.
#include "engine/onnxruntime_engine.hpp"

namespace headroom::engine {

base::Result<std::unique_ptr<Engine>> make_onnxruntime_engine(const OnnxRuntimeOptions& /*options*/) {
  return base::fail(
      base::ErrorCode::kUnsupported,
      "this program was built without ONNX Runtime's headers; run ./dev setup and ./dev build, or "
      "use --engine openvino");
}

}  // namespace headroom::engine
