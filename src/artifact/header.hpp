// Header: what every artifact begins with, and how artifacts of different runs are told apart.
//
// Plain values; unknown is nullopt and becomes null in JSON, never 0. Times are ISO 8601 text. Immutable,
// shared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "capacity/rung.hpp"

namespace headroom::artifact {

// What was measured: two artifacts may be used together only if this is the same.
struct Fingerprint {
  std::optional<std::string> endpoint, variant, instance_type, image_digest, transport, workload_hash;
  // Container environment by name. Values outside an allow-list are stored as "sha256:...", see
  // environment_value().
  std::map<std::string, std::string> environment;
  bool known() const { return endpoint || instance_type || image_digest || workload_hash; }
  bool operator==(const Fingerprint&) const = default;
};

// Recorded, not compared: MAX_QUEUE_DEPTH (TTS_MAX_QUEUE_DEPTH) is what the plan decides, TTS_EMF only adds
// log lines.
bool is_compared_variable(const std::string& name);
// The value itself for names of the allow-list (TTS_*, MAX_*, SAGEMAKER_*, without *KEY*, *TOKEN*, *SECRET*,
// *PASSWORD*), else "sha256:" and 16 digits of its hash: an artifact never holds a secret.
std::string environment_value(const std::string& name, const std::string& value);

// One line for each field that is known on both sides and differs: "transport: response-stream here, buffered
// there".
std::vector<std::string> differences(const Fingerprint& left, const Fingerprint& right);

struct Header {
  std::string created;  // ISO 8601
  std::string tool_version = HEADROOM_VERSION;
  std::string run_id;
  Fingerprint fingerprint;
  std::vector<base::Setting> settings;  // requested: each option with its source
  std::map<std::string, std::string>
      effective;                   // what the run settled on (rungs held, budget used, engine ...)
  std::vector<std::string> notes;  // "host_contended: ...", "paced engine", ...
  std::optional<std::string> account, region, endpoint_url;
  std::optional<capacity::Counts>
      counts;  // of the whole run; started = ok + rejected + failed + timed_out + aborted
};

}  // namespace headroom::artifact
