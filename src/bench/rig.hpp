// Rig: the load driver wired to one endpoint or bare server: workload, request bodies, connections.
//
// Made once per measurement. Single threaded but for what the driver does inside.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aws/invoke.hpp"
#include "base/options.hpp"
#include "bench/session.hpp"
#include "load/driver.hpp"
#include "load/http_target.hpp"
#include "load/record_file.hpp"
#include "load/target.hpp"
#include "load/workload.hpp"
#include "load/ws_target.hpp"

namespace headroom::bench {

struct LoadOptions {
  std::string workload;   // empty: the model file's, else short
  std::string transport;  // empty: the model file's, else response-stream
  std::string voice = "af_heart";
  int seed = 1;
  base::Duration request_timeout = std::chrono::seconds(60);
  double cancel_share = 0;
  base::Duration ramp = std::chrono::seconds(10);  // longest
  std::string records;  // empty: requests-<run id>.jsonl.gz among the artifacts; "none": not kept
  std::vector<base::Option> table();
};

// What the load is, before any connection: enough for a fingerprint and a dry run.
struct LoadPlan {
  load::Workload workload;
  load::BodyFormat body;
  aws::InvokeTransport transport;
  std::string hash;  // of texts and body: equal hashes sent equal requests
};
base::Result<LoadPlan> plan_load(const LoadOptions& options, const Session& session);

// Opens an endpoint's connections until n stand, those of the `in_flight` requests included: these are not
// idle, and with long requests never were in time. In slices: a signal must not wait for connections that
// never come, since restoring waits for it. Errors: kCancelled (interrupted), kTimeout at `whole`, and the
// invoker's own.
base::Result<void> warm_missing(aws::Invoker& invoker, int n, const std::function<int()>& in_flight,
                                const std::function<bool()>& interrupted, const base::Clock& clock,
                                base::Deadline whole);

class Rig {
 public:
  static base::Result<std::unique_ptr<Rig>> make(Session& session, LoadPlan plan, const LoadOptions& options,
                                                 int most_outstanding);
  ~Rig();
  load::Driver& driver() { return *driver_; }
  const std::string& hash() const { return plan_.hash; }  // of texts and bodies
  // Opens the connections that N needs before N is held, so that no request pays for a connect.
  base::Result<void> warm(int n, Session& session);
  // Stops the driver; the records are then whole. Their path, "" where none are kept.
  base::Result<std::string> close(base::Duration grace);
  // The same once the driver stands still. The measurement counts whatever became of its records: where they
  // are not whole, warns and returns the note that the artifact keeps.
  std::optional<std::string> close_or_warn(const Session& session);

 private:
  explicit Rig(LoadPlan plan) : plan_(std::move(plan)) {}
  base::Result<void> connect(Session& session, int most_outstanding);
  base::Result<void> keep_records(Session& session, const LoadOptions& options);
  LoadPlan plan_;
  std::unique_ptr<aws::Invoker> invoker_;
  std::unique_ptr<load::HttpTarget> http_;  // one of the three carries the requests
  std::unique_ptr<load::InvokerTarget> target_;
  std::unique_ptr<load::WsTarget> sessions_;
  std::unique_ptr<load::RecordFile> records_;  // outlives the driver, which hands it every request
  std::string records_path_;
  std::unique_ptr<load::Driver> driver_;
};

}  // namespace headroom::bench
