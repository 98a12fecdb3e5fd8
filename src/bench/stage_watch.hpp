// StageWatch: the stamps of a new instance's start, from its log stream and from DescribeEndpoint.
//
// poll() asks the APIs; parsing is apart from it so that it can be tested. Single threaded. A log line's own
// time is observed (1 ms); what polling found is bounded by the time since the poll before.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/session.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::bench {

struct StageLine {
  std::string name;  // as in the log: container_start, weights_fetched, ...
  base::WallTime at;
};
// `=== STAGE <name> t=<ISO 8601>Z elapsed_s=<s> ===`, anywhere in the line.
std::optional<StageLine> parse_stage_line(std::string_view line);

class StageWatch {
 public:
  // Remembers the log streams that exist before the new instance: the new one is the one that is not among
  // them.
  static base::Result<StageWatch> begin(Session& session);
  // `wanted`: the count that makes the endpoint complete. Errors of single readings are passed over: unknown
  // is not 0.
  void poll(Session& session, int wanted);
  void add(capacity::Stamp stamp) { stamps_.push_back(std::move(stamp)); }
  bool in_service() const { return in_service_; }
  const std::vector<capacity::Stamp>& stamps() const { return stamps_; }
  const std::optional<std::string>& stream() const { return stream_; }

 private:
  void read_stream(Session& session);
  std::set<std::string> old_streams_;
  std::optional<std::string> stream_;
  std::set<std::string> seen_;
  std::vector<capacity::Stamp> stamps_;
  std::optional<base::WallTime> last_poll_;
  bool in_service_ = false;
};

// Stamps use wall time since the epoch: logs have no other clock.
base::Duration since_epoch(base::WallTime at);

}  // namespace headroom::bench
