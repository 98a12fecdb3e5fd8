// LiveLoads: what `validate --live` does to an endpoint: loads held for a while, and the fleet's course under
// them.
//
// Readings of the fleet come once a second; one that failed is missing, unless it always will fail. Every
// load has ended when a call returns. Calls block and end early where the user interrupts. Single threaded.
// Errors: kCancelled (interrupted), kNotFound (the variant is gone), those of the APIs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/live_phases.hpp"
#include "bench/progress_line.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

class LiveLoads {
 public:
  static constexpr double kReadingS = 1;  // between two readings of the fleet

  LiveLoads(Session& session, const LoadOptions& options)
      : session_(session), options_(options), progress_(session) {}

  // What came of the requests that started in the judged time.
  struct Held {
    load::WindowView view;
    std::uint64_t dropped = 0;  // open loop: never sent
    std::string client_bound;   // why the driver was the limit; empty: it was not
    // What did not end well, aborted included: those that had no end after the grace.
    std::uint64_t bad() const { return view.failed + view.timed_out + view.aborted + dropped; }
  };
  base::Result<Held> hold(const LiveLoad& load, double settle_s, double judged_s);

  using Done = std::function<bool(const std::vector<FleetPoint>&)>;  // of at least one point
  // The fleet's course until `done` or the time is up.
  base::Result<FleetCourse> watch(double longest_s, const Done& done);
  struct Watched {
    FleetCourse course;
    std::string client_bound;  // as above
  };
  base::Result<Watched> watch_under(const LiveLoad& load, double longest_s, const Done& done);

 private:
  base::Result<std::unique_ptr<Rig>> start(const LiveLoad& load, double longest_s);
  base::Result<FleetPoint> read_fleet(base::SteadyTime began);

  Session& session_;
  const LoadOptions& options_;
  ProgressLine progress_;
};

}  // namespace headroom::bench
