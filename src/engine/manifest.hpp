// Manifest of a model directory: which files it must hold, and the check that it holds exactly those bytes.
//
// Does not load any of them. A path in a manifest is relative and stays inside the directory; anything else
// is refused. Sizes are bytes. Immutable after loading; the functions are thread safe and read the disk.
// Errors: kNotFound (no manifest or a file is missing), kInvalidData (wrong form, size or SHA-256); each
// names the file and says that ./dev setup makes it anew. Form: "headroom/model" version 1, written by
// setup/prepare_model.py.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headroom::engine {

struct ModelFile {
  std::string path;  // "voices/af_heart.bin"
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct Manifest {
  std::string directory;
  std::string model;  // "kokoro-82m"
  int sample_rate = 0;
  std::vector<ModelFile> files;
  std::string sha256;  // of manifest.json itself: names the whole model in fingerprints

  std::string full_path(std::string_view relative) const;
  bool lists(std::string_view relative) const;
};

base::Result<Manifest> load_manifest(const std::string& directory);

// Refuses a file beside the listed ones that would be read without a check: a graph or its weights under ir/
// or onnx/, a dictionary under lexicon/, vocab.json. (Voices are read by the list.)
base::Result<void> check_nothing_unlisted(const Manifest& manifest);

// Reads every file of the manifest once and compares size and SHA-256.
base::Result<void> verify_files(const Manifest& manifest);

}  // namespace headroom::engine
