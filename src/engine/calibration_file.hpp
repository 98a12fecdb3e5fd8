// Keeps the result of a calibration in the folder of compiled models, for the next start on the same machine.
//
// One file for each key, so that machines which share the folder do not undo each other's. Not thread safe
// beyond what the file system gives: the last writer wins. Errors: none when reading (what is not there, of
// another key or damaged is measured anew); kIo when writing. Form: "headroom/calibration" version 1.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "engine/calibration.hpp"
#include "engine/cpu_limits.hpp"

namespace headroom::engine {

struct CalibrationKey {
  std::string engine;           // "openvino"
  std::string precision;        // "bf16"
  std::string cpu;              // "Intel(R) Xeon(R) Platinum 8488C"
  std::string manifest_sha256;  // the model
  CpuLimits limits;
  std::string version;  // of this program
};

std::string key_text(const CalibrationKey& key);
std::string calibration_path(const std::string& folder, const CalibrationKey& key);
std::string calibration_json(const CalibrationKey& key, const Calibration& calibration);

// None: not JSON, another schema or key, or figures that no calibration gives.
std::optional<Calibration> parse_calibration(const std::string& text, const CalibrationKey& key);

std::optional<Calibration> read_calibration(const std::string& folder, const CalibrationKey& key);
base::Result<void> write_calibration(const std::string& folder, const CalibrationKey& key,
                                     const Calibration& calibration);

// Model name from the text of /proc/cpuinfo; "unknown" without one.
std::string cpu_model(const std::string& cpuinfo);
std::string cpu_model();

}  // namespace headroom::engine
