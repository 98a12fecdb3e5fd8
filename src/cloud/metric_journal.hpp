// Metrics across restarts: a file of lines that grows by what is new, and is read and rewritten at the start.
//
// DIR/metrics.jsonl (mode 0600). A line is a series or one second of it; a later line replaces an earlier
// one. A kill loses what came since the last append, at most. A broken last line is ignored. Aggregates of
// the last day and raw readings of the last three hours come back, levels of gauges do not: their instances
// are gone. A file of another --fast is started anew. Above 32 MiB the file becomes metrics.1.jsonl in place
// of an older one, so that under a steady load for hours the oldest are forgotten earlier. One thread.
// Errors: kIo.
#pragma once

#include <string>

#include "base/guarded.hpp"
#include "cloud/world.hpp"

namespace headroom::cloud {

class MetricJournal {
 public:
  explicit MetricJournal(const std::string& folder)
      : path_(folder + "/metrics.jsonl"), older_path_(folder + "/metrics.1.jsonl") {}

  base::Result<void> load(World& world);  // before the first append
  base::Result<void> append(base::Guarded<World>& world);

 private:
  static std::string header(const World& world);
  base::Result<void> rotate(base::Guarded<World>& world);

  std::string path_, older_path_;
  std::size_t size_ = 0;
};

}  // namespace headroom::cloud
