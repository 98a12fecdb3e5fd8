// Model files (models/NAME.toml), as far as `tts-local up` needs them: what to deploy.
//
// Unknown keys are refused, the allowed ones printed (SPEC of the file: docs/local-cloud.md). Errors:
// kNotFound, kInvalidData with path, key and remedy.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"

namespace headroom::cloud {

struct ModelFile {
  std::string endpoint;
  std::string instance_type = "ml.g5.xlarge";
  int min_instances = 1;
  int max_instances = 1;
  std::string image;
  std::map<std::string, std::string> environment;
};

base::Result<ModelFile> read_model_file(const std::string& path);
base::Result<ModelFile> parse_model_file(const std::string& text, const std::string& path);

}  // namespace headroom::cloud
