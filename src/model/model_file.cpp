// Reads models/NAME.toml against a table of its keys.
#include "model/model_file.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "base/options.hpp"

namespace headroom::model {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

// Takes a value into the file, or says what was expected.
using Take = std::function<std::optional<std::string>(const toml::node&, ModelFile&)>;

struct Key {
  const char* table;  // "" = top level
  const char* name;
  Take take;
};

Take text_into(std::string ModelFile::*member) {
  return [member](const toml::node& node, ModelFile& file) -> std::optional<std::string> {
    const auto value = node.value_exact<std::string>();
    if (!value) return "a text in quotes";
    file.*member = *value;
    return std::nullopt;
  };
}

template <class T>
Take number_into(T ModelFile::*member, double low, double high) {
  return [=](const toml::node& node, ModelFile& file) -> std::optional<std::string> {
    const auto value = node.value<double>();
    if (!node.is_number() || !value || !std::isfinite(*value) || *value < low || *value > high)
      return fmt::format("a number from {:g} to {:g}", low, high);
    file.*member = *value;
    return std::nullopt;
  };
}

Take count_into(int ModelFile::*member) {
  return [member](const toml::node& node, ModelFile& file) -> std::optional<std::string> {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > 100000) return "a whole number from 1 to 100000";
    file.*member = static_cast<int>(*value);
    return std::nullopt;
  };
}

std::optional<std::string> take_endpoint(const toml::node& node, ModelFile& file) {
  const auto value = node.value_exact<std::string>();
  if (!value || !base::is_sagemaker_name(*value))
    return "a SageMaker name: 1 to 63 letters, digits and inner hyphens";
  file.endpoint = *value;
  return std::nullopt;
}

std::optional<std::string> take_environment(const toml::node& node, ModelFile& file) {
  const toml::table* table = node.as_table();
  if (!table) return "a table of texts, such as { TTS_ENGINE = \"openvino\" }";
  for (const auto& [key, value] : *table) {
    const auto text = value.value_exact<std::string>();
    if (!text) return fmt::format("a text in quotes for {}", key.str());
    file.environment[std::string(key.str())] = *text;
  }
  return std::nullopt;
}

std::optional<std::string> take_hash(const toml::node& node, ModelFile& file) {
  const auto value = node.value_exact<std::string>();
  if (!value || (!value->empty() &&
                 (value->size() != 64 || value->find_first_not_of("0123456789abcdef") != std::string::npos)))
    return "64 lower-case hex digits, or \"\" while it is not known";
  if (!value->empty()) file.manifest_sha256 = *value;
  return std::nullopt;
}

std::optional<std::string> take_transport(const toml::node& node, ModelFile& file) {
  const auto value = node.value_exact<std::string>();
  if (!value ||
      (*value != "response-stream" && *value != "bidirectional" && *value != "buffered" && *value != "http"))
    return "response-stream, bidirectional, buffered or http";
  file.transport = *value;
  return std::nullopt;
}

const std::vector<Key>& keys() {
  static const std::vector<Key> table{
      {"", "endpoint", take_endpoint},
      {"instance", "type", text_into(&ModelFile::instance_type)},
      {"instance", "min", count_into(&ModelFile::min_instances)},
      {"instance", "max", count_into(&ModelFile::max_instances)},
      {"instance", "price_per_hour_usd", number_into(&ModelFile::price_per_hour_usd, 0, 1e5)},
      {"slo", "p95_first_audio_ms", number_into(&ModelFile::slo_ms, 1, 6e4)},
      {"load", "workload", text_into(&ModelFile::workload)},
      {"load", "peak_rps", number_into(&ModelFile::peak_rps, 0, 1e7)},
      {"load", "trough_rps", number_into(&ModelFile::trough_rps, 0, 1e7)},
      {"load", "headroom", number_into(&ModelFile::headroom, 1, 100)},
      {"transport", "kind", take_transport},
      {"container", "image", text_into(&ModelFile::image)},
      {"container", "environment", take_environment},
      {"weights", "manifest_sha256", take_hash},
  };
  return table;
}

std::string full_name(const std::string& table, const std::string& name) {
  return table.empty() ? name : table + "." + name;
}

std::string allowed_keys() {
  std::string all;
  for (const Key& key : keys()) all += (all.empty() ? "" : ", ") + full_name(key.table, key.name);
  return all;
}

tl::unexpected<base::Error> unknown_key(const std::string& path, const std::string& name,
                                        const toml::node& node) {
  std::vector<std::string> names;
  for (const Key& key : keys()) names.push_back(full_name(key.table, key.name));
  const auto near = base::nearest_name(name, names);
  return fail(ErrorCode::kInvalidData,
              fmt::format("{}:{}: unknown key '{}'{}; allowed are {}", path, node.source().begin.line, name,
                          near ? fmt::format(" (did you mean '{}'?)", *near) : "", allowed_keys()));
}

base::Result<void> read_table(const toml::table& table, const std::string& name, const std::string& path,
                              ModelFile& file) {
  for (const auto& [key, node] : table) {
    const std::string key_name(key.str());
    const Key* known = nullptr;
    bool is_table = false;
    for (const Key& k : keys()) {
      if (name == k.table && key_name == k.name) known = &k;
      is_table = is_table || (name.empty() && key_name == k.table);
    }
    if (is_table && node.is_table()) {
      if (auto ok = read_table(*node.as_table(), key_name, path, file); !ok) return ok;
    } else if (!known) {
      return unknown_key(path, full_name(name, key_name), node);
    } else if (const auto expected = known->take(node, file)) {
      return fail(ErrorCode::kInvalidData,
                  fmt::format("{}:{}: {}: expected {}", path, node.source().begin.line,
                              full_name(name, key_name), *expected));
    }
  }
  return {};
}

}  // namespace

base::Result<ModelFile> parse_model_file(const std::string& text, const std::string& path) {
  ModelFile file;
  file.path = path;
  try {
    const toml::table table = toml::parse(text, path);
    if (auto ok = read_table(table, "", path, file); !ok) return tl::unexpected(ok.error());
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::kInvalidData, fmt::format("{}:{}: not valid TOML: {}", path,
                                                     error.source().begin.line, error.description()));
  }
  if (file.endpoint.empty())
    return fail(ErrorCode::kInvalidData, fmt::format("{}: the key 'endpoint' is missing", path));
  if (file.max_instances < file.min_instances)
    return fail(ErrorCode::kInvalidData, fmt::format("{}: instance.max {} is below instance.min {}", path,
                                                     file.max_instances, file.min_instances));
  if (file.peak_rps && file.trough_rps && *file.peak_rps < *file.trough_rps)
    return fail(ErrorCode::kInvalidData, fmt::format("{}: load.peak_rps {} is below load.trough_rps {}", path,
                                                     *file.peak_rps, *file.trough_rps));
  return file;
}

base::Result<ModelFile> load_model_file(const std::string& name, const std::string& folder) {
  const bool is_path = name.size() > 5 && name.compare(name.size() - 5, 5, ".toml") == 0;
  if (!is_path && !base::is_path_component(name))
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format(
            "'{}' is no model: a name may hold letters, digits, '.', '-' and '_'; or give the path of a "
            ".toml file",
            name.substr(0, 100)));
  const std::string path = is_path ? name : folder + "/" + name + ".toml";
  const auto text = base::read_file(path, kMaxBytes);
  if (!text) {
    if (text.error().code != ErrorCode::kNotFound) return tl::unexpected(text.error());
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no model file '{}'; --model takes NAME of {}/NAME.toml or the path of a .toml file",
                    path, folder));
  }
  return parse_model_file(*text, path);
}

}  // namespace headroom::model
