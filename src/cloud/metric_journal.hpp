// Metrics across restarts: a file of lines that grows by what is new, and is read and rewritten at the start.
//
// DIR/metrics.jsonl (mode 0600). A line is a series or one second of it; a later line replaces an earlier
// one. A kill loses what came since the last append, at most. A broken last line is ignored. Aggregates of
// the last day and raw readings of the last three hours come back, levels of gauges do not: their instances
// are gone. A file of another --fast is started anew. Above 32 MiB the file becomes metrics.1.jsonl in place
// of an older one, so that under a steady load for hours the oldest are forgotten earlier. What could not be
// written (a full disk) leaves no trace in the file and comes first the next time; above 8 MiB the oldest of
// it is lost, and the rest stays readable. One thread. Errors: kIo.
#pragma once

#include <deque>
#include <string>

#include "base/guarded.hpp"
#include "cloud/world.hpp"

namespace headroom::cloud {

class MetricJournal {
 public:
  explicit MetricJournal(const std::string& folder, std::size_t max_waiting = 8U << 20U)
      : path_(folder + "/metrics.jsonl"),
        older_path_(folder + "/metrics.1.jsonl"),
        max_waiting_(max_waiting) {}

  base::Result<void> load(World& world);  // before the first append
  base::Result<void> append(base::Guarded<World>& world);

 private:
  static std::string header(const World& world);
  base::Result<void> rotate(base::Guarded<World>& world);
  void take(base::Guarded<World>& world);
  base::Result<void> write_waiting(const std::string& first);
  void forget_oldest();

  std::string path_, older_path_;
  std::size_t max_waiting_ = 0;      // bytes
  std::size_t size_ = 0;             // of the file
  bool torn_ = false;                // the file may end in half a line
  std::deque<std::string> waiting_;  // lines of one append each, all but the first name their series
};

}  // namespace headroom::cloud
