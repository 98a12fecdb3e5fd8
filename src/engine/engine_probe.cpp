// engine_probe: speaks token ids. Standard input: one JSON object a line,
// {"tokens":[...],"voice":"af_heart","speed":1.0, "out":"FILE"} ("voice" may be a list of [name, weight]);
// FILE gets raw float32 samples. Standard output: one JSON line for each, {"samples":N,"ms":T} or
// {"error":"..."}. For tests and measurements; not a server.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/model_engine.hpp"

namespace {

using headroom::engine::Engine;
using headroom::engine::Segment;
using nlohmann::json;

Segment read_segment(const json& line) {
  Segment segment;
  segment.tokens = line.at("tokens").get<std::vector<std::int64_t>>();
  segment.speed = line.value("speed", 1.0F);
  const auto& voice = line.at("voice");
  if (voice.is_string()) {
    segment.voice = {{voice.get<std::string>()}};
  } else {
    for (const auto& part : voice)
      segment.voice.push_back({part.at(0).get<std::string>(), part.at(1).get<float>()});
  }
  return segment;
}

json speak(Engine& engine, const std::string& text) {
  const auto line = json::parse(text);
  const auto begin = std::chrono::steady_clock::now();
  const auto samples = engine.synthesize(read_segment(line));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (!samples) return {{"error", headroom::base::describe(samples.error())}};
  if (line.contains("out")) {
    std::ofstream out(line.at("out").get<std::string>(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(samples->data()),
              static_cast<std::streamsize>(samples->size() * sizeof(float)));
    if (!out) return {{"error", "cannot write " + line.at("out").get<std::string>()}};
  }
  return {{"samples", samples->size()}, {"ms", took.count()}};
}

}  // namespace

int main(int argc, char** argv) {
  headroom::engine::bound_kept_memory();
  if (argc < 2 || argc > 7) {
    fmt::print(
        stderr,
        "usage: engine_probe MODEL_DIR [WORKERS [THREADS [CACHE_DIR [PRECISION [ENGINE]]]]] < lines\n");
    return 2;
  }
  headroom::engine::ModelEngineOptions options;
  options.model_dir = argv[1];
  options.workers = argc > 2 ? std::atoi(argv[2]) : 1;
  options.threads = argc > 3 ? std::atoi(argv[3]) : 1;
  options.cache_dir = argc > 4 ? argv[4] : "";
  options.precision = headroom::engine::parse_precision(argc > 5 ? argv[5] : "auto");
  options.engine = argc > 6 ? argv[6] : "openvino";
  const auto begin = std::chrono::steady_clock::now();
  options.on_stage = [&](std::string_view stage) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print(stderr, "{} {:.3f} s\n", stage, took.count());
  };
  auto made = headroom::engine::make_model_engine(options);
  if (!made) {
    fmt::print(stderr, "engine_probe: {}\n", headroom::base::describe(made.error()));
    return 1;
  }
  for (std::string text; std::getline(std::cin, text);) {
    json answer;
    try {
      answer = speak(*made->engine, text);
    } catch (const json::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}
