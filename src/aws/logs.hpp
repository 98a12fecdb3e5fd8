// CloudWatch Logs, read only: streams of a group and their events.
//
// Blocking; as thread safe as its Transport. Every list is read to its last page. Source: CloudWatch Logs API
// 2014-03-28.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

std::string endpoint_log_group(const std::string& endpoint);  // /aws/sagemaker/Endpoints/NAME

struct LogStream {
  std::string name;
  std::optional<base::WallTime> created;
  std::optional<base::WallTime> first_event;
  std::optional<base::WallTime> last_event;
};

struct LogEvent {
  base::WallTime at;
  std::optional<base::WallTime> ingested;
  std::string stream;
  std::string message;
};

class Logs {
 public:
  explicit Logs(Transport& transport) : transport_(transport) {}

  // A group that does not exist yet is an empty list: an endpoint without a first line has none.
  base::Result<std::vector<LogStream>> describe_streams(const std::string& group, const std::string& prefix,
                                                        base::Deadline deadline);
  // Oldest first; from `start` on, if given.
  base::Result<std::vector<LogEvent>> get_events(const std::string& group, const std::string& stream,
                                                 std::optional<base::WallTime> start,
                                                 base::Deadline deadline);
  base::Result<std::vector<LogEvent>> filter_events(
      const std::string& group, const std::vector<std::string>& streams, const std::string& pattern,
      std::optional<base::WallTime> start, std::optional<base::WallTime> end, base::Deadline deadline);

 private:
  Transport& transport_;
};

}  // namespace headroom::aws
