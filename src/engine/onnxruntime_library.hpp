// Opens ONNX Runtime at run time. Internal: shows its C API.
//
// Nothing links with it, so that a program starts without it and says what is missing. The library stays open
// until the process ends. Thread safe; the first one that opens is the one for the process, whatever is named
// later. Errors: kNotFound (none could be opened), kUnsupported (all that were opened are too old); both name
// what was tried and the remedy.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

struct OrtApi;

namespace headroom::engine {

struct OnnxRuntimeLibrary {
  const OrtApi* api = nullptr;  // never null in a result
  std::string folder;           // where it lies; its providers are looked for beside it
  std::string version;          // "1.32.0"
};

// What is tried, in this order. `named`: what the user says, then nothing else counts. Else: the loader's own
// search, and the folder that ./dev setup fills (`cache`, empty: none).
std::vector<std::string> onnxruntime_candidates(const std::string& named, const std::string& cache);

// ${HEADROOM_CACHE:-${XDG_CACHE_HOME:-~/.cache}/headroom}, as setup/paths.sh has it; empty without a home.
std::string setup_cache();

base::Result<OnnxRuntimeLibrary> open_onnxruntime(const std::string& named);

}  // namespace headroom::engine
