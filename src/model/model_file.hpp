// ModelFile: models/NAME.toml, what the owner knows and wants of one deployable model.
//
// Unknown keys are refused, naming the key and the allowed ones. Immutable after reading. toml++ stays in the
// .cpp. Errors: kNotFound (the message lists where it looked), kInvalidData (file, line, key, what was
// expected).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace headroom::model {

struct ModelFile {
  std::string path;
  std::string endpoint;
  std::string instance_type;
  int min_instances = 1;
  int max_instances = 1;
  std::optional<double> price_per_hour_usd;
  double slo_ms = 3000;
  std::string workload = "short";
  std::optional<double> peak_rps, trough_rps;
  double headroom = 1.25;
  std::string transport = "response-stream";
  std::string image;
  std::map<std::string, std::string> environment;
  std::optional<std::string> manifest_sha256;
};

base::Result<ModelFile> parse_model_file(const std::string& text, const std::string& path);
// `name`: a path component ("kokoro-82m": FOLDER/kokoro-82m.toml) or a path that ends in .toml.
base::Result<ModelFile> load_model_file(const std::string& name, const std::string& folder = "models");

}  // namespace headroom::model
