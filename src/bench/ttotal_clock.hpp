// RunningClock: a ttotal whose clock runs, and how it is kept for a process that comes after this one.
//
// All by the steady clock, which counts on while no process looks. It begins anew when the machine starts;
// only then the wall clock says how long ago the clock started. Errors: kNotFound (there is none),
// kInvalidData (not ours), those of files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/session.hpp"
#include "bench/wall_offset.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::bench {

struct RunningClock {
  std::string freeze_run;   // whose freeze stands
  std::string config_name;  // EndpointConfigName when it began; empty: a bare server
  base::SteadyTime load_applied{};
  Moment desired_set;
  base::SteadyTime asked_after{};       // nothing of the new instance is older
  double resolution_s = 0.001;          // of desired_set
  bool observed = false;                // the policy asked: from the load until desired_set is its lag
  bool by_wall = false;                 // the machine was started anew since
  std::optional<double> lag_s() const;  // observed only
  int load = 0, wanted = 2;
  double baseline_p95_ms = 0;
  std::vector<std::string> old_streams;
  std::vector<capacity::Stamp> stamps() const;  // load_applied and desired_set
};

// Pure. `boot`: boot_id() where it is written and where it is read; `now`: when it is read.
std::string clock_text(const RunningClock& clock, const std::string& boot);
std::optional<RunningClock> parse_clock(const std::string& text, const std::string& boot, Moment now);
std::string boot_id();  // of the running kernel; "": unknown, and equal to no other

std::string clock_path(const Session& session);
base::Result<void> save_clock(const Session& session, const RunningClock& clock);
base::Result<RunningClock> load_clock(Session& session);

}  // namespace headroom::bench
