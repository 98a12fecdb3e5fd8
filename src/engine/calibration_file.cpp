// Writes and reads calibration-KEY.json.
#include "engine/calibration_file.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/sha256.hpp"

namespace headroom::engine {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = 64 * 1024;
constexpr std::size_t kMaxCpuInfo = std::size_t{4} << 20;
constexpr const char* kSchema = "headroom/calibration";

// Throws what nlohmann throws on a missing or mistyped key; the caller takes that for no result.
Shares read_shares(const json& entry) {
  return {entry.at("workers").get<int>(), entry.at("threads").get<int>()};
}

json write_shares(const Shares& shares) { return {{"workers", shares.workers}, {"threads", shares.threads}}; }

}  // namespace

std::string key_text(const CalibrationKey& key) {
  return fmt::format("engine={} precision={} cpu={} affinity={} quota={} model={} version={}", key.engine,
                     key.precision, key.cpu, key.limits.affinity,
                     key.limits.quota ? fmt::format("{:.2f}", *key.limits.quota) : "none",
                     key.manifest_sha256, key.version);
}

std::string calibration_path(const std::string& folder, const CalibrationKey& key) {
  return fmt::format("{}/calibration-{}.json", folder, base::sha256_hex(key_text(key)).substr(0, 16));
}

std::string calibration_json(const CalibrationKey& key, const Calibration& calibration) {
  json measured = json::array();
  for (const auto& one : calibration.measured) {
    auto entry = write_shares(one.shares);
    entry["speech_s_per_s"] = one.speech_s_per_s;
    measured.push_back(std::move(entry));
  }
  json left_out = json::array();
  for (const auto& one : calibration.left_out) left_out.push_back(write_shares(one));
  const json file{{"schema", kSchema},
                  {"version", 1},
                  {"key", key_text(key)},
                  {"measured", measured},
                  {"left_out", left_out},
                  {"took_s", calibration.took_s},
                  {"chosen", write_shares(choose_measured(calibration.measured))}};
  return file.dump(1) + "\n";
}

std::optional<Calibration> parse_calibration(const std::string& text, const CalibrationKey& key) {
  Calibration calibration;
  try {
    const auto file = json::parse(text);
    if (file.at("schema") != kSchema || file.at("version") != 1 || file.at("key") != key_text(key))
      return std::nullopt;
    for (const auto& entry : file.at("measured")) {
      const Measured one{read_shares(entry), entry.at("speech_s_per_s").get<double>()};
      if (!check_shares(one.shares) || !std::isfinite(one.speech_s_per_s) || one.speech_s_per_s < 0)
        return std::nullopt;
      calibration.measured.push_back(one);
    }
    for (const auto& entry : file.at("left_out")) calibration.left_out.push_back(read_shares(entry));
    calibration.took_s = file.at("took_s").get<double>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  if (calibration.measured.empty()) return std::nullopt;
  return calibration;
}

std::optional<Calibration> read_calibration(const std::string& folder, const CalibrationKey& key) {
  const auto text = base::read_file(calibration_path(folder, key), kMaxBytes);
  return text ? parse_calibration(*text, key) : std::nullopt;
}

base::Result<void> write_calibration(const std::string& folder, const CalibrationKey& key,
                                     const Calibration& calibration) {
  if (auto made = base::make_directories(folder); !made) return made;
  return base::write_file_atomically(calibration_path(folder, key), calibration_json(key, calibration));
}

std::string cpu_model(const std::string& cpuinfo) {
  const auto line = cpuinfo.find("model name");
  if (line == std::string::npos) return "unknown";
  const auto from = cpuinfo.find(": ", line);
  const auto end = cpuinfo.find('\n', line);
  if (from == std::string::npos || from >= end) return "unknown";
  return cpuinfo.substr(from + 2, end == std::string::npos ? end : end - from - 2);
}

std::string cpu_model() { return cpu_model(base::read_file("/proc/cpuinfo", kMaxCpuInfo).value_or("")); }

}  // namespace headroom::engine
