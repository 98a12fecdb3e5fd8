// TOML to ModelFile.
#include "cloud/model_file.hpp"

#include <set>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

const std::map<std::string, std::set<std::string>>& allowed_keys() {
  static const std::map<std::string, std::set<std::string>> keys{
      {"", {"endpoint", "instance", "slo", "load", "transport", "container", "weights"}},
      {"instance", {"type", "min", "max", "price_per_hour_usd"}},
      {"slo", {"p95_first_audio_ms"}},
      {"load", {"workload", "peak_rps", "trough_rps", "headroom"}},
      {"transport", {"kind"}},
      {"container", {"image", "environment"}},
      {"weights", {"manifest_sha256"}},
  };
  return keys;
}

base::Result<void> check_keys(const toml::table& table, const std::string& section, const std::string& path) {
  const auto& allowed = allowed_keys().at(section);
  for (const auto& [key, value] : table) {
    if (allowed.count(std::string(key.str())) > 0) continue;
    return fail(ErrorCode::kInvalidData,
                fmt::format("{}: unknown key '{}{}{}'; allowed are {}", path, section,
                            section.empty() ? "" : ".", std::string(key.str()), fmt::join(allowed, ", ")));
  }
  return {};
}

base::Result<ModelFile> convert(const toml::table& root, const std::string& path) {
  if (const auto checked = check_keys(root, "", path); !checked) return tl::unexpected(checked.error());
  for (const auto& [section, keys] : allowed_keys()) {
    const toml::table* table = section.empty() ? nullptr : root[section].as_table();
    if (table == nullptr) continue;
    if (const auto checked = check_keys(*table, section, path); !checked)
      return tl::unexpected(checked.error());
  }
  ModelFile file;
  file.endpoint = root["endpoint"].value_or(std::string());
  if (!base::is_sagemaker_name(file.endpoint))
    return fail(
        ErrorCode::kInvalidData,
        fmt::format(
            "{}: endpoint '{}' is not a SageMaker name; use 1 to 63 letters, digits and inner hyphens", path,
            file.endpoint));
  file.instance_type = root["instance"]["type"].value_or(file.instance_type);
  file.min_instances = root["instance"]["min"].value_or(1);
  file.max_instances = root["instance"]["max"].value_or(file.min_instances);
  if (file.min_instances < 1 || file.max_instances < file.min_instances)
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("{}: instance.min must be at least 1 and instance.max at least instance.min", path));
  file.image = root["container"]["image"].value_or(std::string());
  if (const toml::table* environment = root["container"]["environment"].as_table()) {
    for (const auto& [key, value] : *environment) {
      const auto text = value.value<std::string>();
      if (!text)
        return fail(ErrorCode::kInvalidData,
                    fmt::format("{}: container.environment.{} must be a string in quotes", path,
                                std::string(key.str())));
      file.environment[std::string(key.str())] = *text;
    }
  }
  return file;
}

}  // namespace

base::Result<ModelFile> parse_model_file(const std::string& text, const std::string& path) {
  try {
    return convert(toml::parse(text, path), path);
  } catch (const toml::parse_error& e) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("{}:{}: {}", path, e.source().begin.line, e.description()));
  }
}

base::Result<ModelFile> read_model_file(const std::string& path) {
  const auto text = base::read_file(path, 1U << 20U);
  if (!text) return tl::unexpected(text.error());
  return parse_model_file(*text, path);
}

}  // namespace headroom::cloud
