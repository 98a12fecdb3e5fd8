// The two compiled graphs (front, vocoder) and what runs one segment through them. Internal: shows
// OpenVINO.
//
// One compiled model of each, so one copy of the weights, for any number of lanes. A lane belongs to one
// caller at a time. Throws what OpenVINO throws; the engine turns that into values. Units: see engine.hpp.
// Source of the names: setup/vocoder_graph.py.
#pragma once

#include <cstdint>
#include <vector>

#include <openvino/openvino.hpp>

#include "engine/compile_cache.hpp"
#include "engine/manifest.hpp"
#include "engine/openvino_engine.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {

inline constexpr const char* kFrontGraph = "ir/front.xml";
inline constexpr const char* kVocoderGraph = "ir/vocoder.xml";

class OpenVinoGraphs {
 public:
  // Compiled graphs are taken from `cache` and put there, with their sums; null: neither.
  OpenVinoGraphs(ov::Core& core, const Manifest& manifest, const OpenVinoOptions& options,
                 const CompileCache* cache);

  std::vector<float> run(std::size_t lane, std::vector<std::int64_t>& tokens, Style& style, float speed);

  // Gives back the memory of intermediate results; the next run takes what it needs. No lane may be running.
  void release_memory();

 private:
  struct Lane {
    ov::InferRequest front;
    ov::InferRequest vocoder;
  };

  ov::CompiledModel front_;
  ov::CompiledModel vocoder_;
  std::vector<Lane> lanes_;
};

}  // namespace headroom::engine
