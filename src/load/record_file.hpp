// RecordFile: every request of a run as one line of gzip-compressed JSON, and the same as CSV.
//
// First line: {"schema":"headroom/requests","version":1,"created":ISO 8601, ...what the caller adds}. Then
// one object a request: index, planned_s, start_s and end_s since `created`; connected_ms, first_byte_ms,
// first_audible_ms and chunks [[ms, bytes], ...] since start; cap_wait_ms, bytes, audio_s, underruns,
// underrun_s, outcome, status, error, request_id. What never came is null. Written beside its name as
// *.partial and renamed by close(); a killed run, or one whose disk was full, leaves the partial file,
// readable up to its last block. Thread safety: single. Errors: kIo, kInvalidData (export: the message names
// the line).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/record.hpp"

namespace headroom::load {

class RecordFile {
 public:
  // `about`: members of the first line, as JSON without braces: "\"workload\":\"short\"". May be empty.
  static base::Result<std::unique_ptr<RecordFile>> create(const std::string& path, const base::Clock& clock,
                                                          const std::string& about);
  virtual ~RecordFile() = default;
  virtual void add(const Record& record) = 0;
  virtual base::Result<void> close() = 0;  // the first error of all, if there was one
};

// One line of the file, without its end. `zero`: what the times count from.
std::string record_line(const Record& record, base::SteadyTime zero);

// The whole file as CSV, through `out`, line by line: a head, then one line a request; chunks become their
// count.
base::Result<void> export_csv(const std::string& path, const std::function<void(const std::string&)>& out);

}  // namespace headroom::load
