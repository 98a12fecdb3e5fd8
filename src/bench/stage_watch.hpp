// StageWatch: the stamps of a new instance's start, from its log stream and from DescribeEndpoint.
//
// poll() asks the APIs; parsing, placing and judging are apart from it so that they can be tested. Single
// threaded. Stamps are of this machine's steady clock. A log line's own time is observed (1 ms); it is of
// another machine's wall clock and is placed within what causality allows (capacity/log_times.hpp). What
// polling found lies between the question before and the answer.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/session.hpp"
#include "bench/wall_offset.hpp"
#include "capacity/log_times.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::bench {

struct StageLine {
  std::string name;  // as in the log: container_start, weights_fetched, ...
  base::WallTime at;
};
// `=== STAGE <name> t=<ISO 8601>Z elapsed_s=<s> ===`, anywhere in the line.
std::optional<StageLine> parse_stage_line(std::string_view line);

// Notices that a scale-out will not come about: the endpoint Failed, or it is InService and wants another
// count. SageMaker shows what it was just asked with a delay, so that an endpoint that has shown nothing of
// it yet is given a few readings.
class ScaleOutWatch {
 public:
  ScaleOutWatch(std::string variant, int wanted) : variant_(std::move(variant)), wanted_(wanted) {}
  // A reading; the reason once it is certain.
  std::optional<std::string> see(const aws::EndpointDescription& endpoint);

 private:
  std::string variant_;
  int wanted_;
  bool begun_ = false;  // Updating, or the wanted count, was seen
  int unmoved_ = 0;
};

class StageWatch {
 public:
  // Remembers the log streams that exist before the new instance: the new one is the one that is not among
  // them.
  static base::Result<StageWatch> begin(Session& session);
  // The same, from streams remembered by a process that died.
  static StageWatch resume(const std::vector<std::string>& old_streams);
  std::vector<std::string> old_streams() const { return {old_streams_.begin(), old_streams_.end()}; }
  // The clock's start: from `at` on, `wanted` instances are asked for, and poll() may be called. Nothing of
  // the new instance is older than `asked_after`.
  void asked(Moment at, base::SteadyTime asked_after, const std::string& variant, int wanted);
  // Up to three calls of 3 s at most; none after an interruption. Errors of single readings are passed over:
  // unknown is not 0.
  void poll(Session& session);
  void add(capacity::Stamp stamp) { stamps_.push_back(std::move(stamp)); }
  bool in_service() const { return in_service_.has_value(); }
  const std::optional<std::string>& failure() const { return failure_; }  // the scale-out will not come about
  // What was stamped so far, the log's times placed on the steady clock; and what there is to say of clocks.
  capacity::PlacedLog seen() const;
  const std::optional<std::string>& stream() const { return stream_; }

 private:
  struct LogLine {
    std::string stamp;  // its name
    base::WallTime at;  // by whoever wrote it
    base::SteadyTime seen;
    bool of_instance;
  };
  void read_stream(Session& session);
  std::set<std::string> old_streams_;
  std::optional<std::string> stream_;
  std::set<std::string> known_;          // lines of the log that are stamped
  std::vector<capacity::Stamp> stamps_;  // by this process's own clock
  std::vector<LogLine> log_;
  std::optional<WallOffset> wall_;
  std::optional<ScaleOutWatch> scale_out_;
  std::optional<std::string> failure_;
  base::SteadyTime asked_after_{}, last_question_{};
  std::optional<base::SteadyTime> in_service_;
  int wanted_ = 0;
  bool watched_ = true;
};

// Stamps are counted from the steady clock's origin.
inline base::Duration on_steady(base::SteadyTime at) { return at.time_since_epoch(); }

}  // namespace headroom::bench
