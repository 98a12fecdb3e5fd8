// Compiles the graphs and passes tensors from one to the next without copying.
#include "engine/openvino_graphs.hpp"

#include <future>

#include <malloc.h>

namespace headroom::engine {
namespace {

constexpr const char* kBetween[] = {"features", "source", "affine"};  // what the front gives the vocoder

ov::AnyMap properties(const OpenVinoOptions& options, const CompileCache* cache,
                      ov::element::Type precision) {
  ov::AnyMap map{
      ov::hint::inference_precision(precision),
      ov::num_streams(options.workers),
      ov::inference_num_threads(options.workers * options.threads),
      // The process may be one of several on this machine and may be pinned from outside already.
      ov::hint::enable_cpu_pinning(false),
      // The plugin keeps 5,000 kernels a graph, made for shapes; speech has a new length nearly every time,
      // so that they are hardly ever used again and take 11 MB a segment. No public property has this.
      {"CPU_RUNTIME_CACHE_CAPACITY", "0"},
  };
  if (cache != nullptr) map.insert(ov::cache_dir(cache->folder().string()));
  return map;
}

}  // namespace

OpenVinoGraphs::OpenVinoGraphs(ov::Core& core, const Manifest& manifest, const OpenVinoOptions& options,
                               const CompileCache* cache) {
  const auto exact = properties(options, cache, ov::element::f32);
  const bool narrow = resolve_precision(options.precision, cpu_features()) == Precision::kBf16;
  const auto fast = narrow ? properties(options, cache, ov::element::bf16) : exact;
  const auto compile = [&](const char* graph, const ov::AnyMap& map) {
    const std::string path = manifest.full_path(graph);
    auto compiled = core.compile_model(path, "CPU", map);
    if (cache == nullptr || compiled.get_property(ov::loaded_from_cache)) return compiled;
    compiled = {};
    return core.compile_model(path, "CPU",
                              map);  // from the cache that it just filled: its weights are mapped
  };
  // Both at once: each takes a second or more when the cache is cold.
  auto front = std::async(std::launch::async, [&] { return compile(kFrontGraph, exact); });
  vocoder_ = compile(kVocoderGraph, fast);
  front_ = front.get();
  if (cache != nullptr) cache->seal();
  for (const char* name : {"tokens", "style", "speed"})
    static_cast<void>(front_.input(name));  // throws without
  for (const char* name : kBetween) static_cast<void>(vocoder_.input(name));
  for (int i = 0; i < options.workers; ++i) {
    lanes_.push_back({front_.create_infer_request(), vocoder_.create_infer_request()});
  }
}

std::vector<float> OpenVinoGraphs::run(std::size_t lane, std::vector<std::int64_t>& tokens, Style& style,
                                       float speed) {
  auto& [front, vocoder] = lanes_.at(lane);
  front.set_tensor("tokens", ov::Tensor(ov::element::i64, {1, tokens.size()}, tokens.data()));
  front.set_tensor("style", ov::Tensor(ov::element::f32, {1, kStyleSize}, style.data()));
  front.set_tensor("speed", ov::Tensor(ov::element::f32, {1}, &speed));
  front.infer();
  for (const char* name : kBetween) vocoder.set_tensor(name, front.get_tensor(name));
  vocoder.infer();
  const ov::Tensor audio = vocoder.get_tensor("audio");
  const auto* first = audio.data<const float>();
  return {first, first + audio.get_size()};
}

void OpenVinoGraphs::release_memory() {
  front_.release_memory();
  vocoder_.release_memory();
  ::malloc_trim(0);
}

}  // namespace headroom::engine
