// Load report: what a span of load showed, as JSON and as a few lines for people.
//
// Pure. Unknown is null. `started` is the sum of all outcomes; `dropped` never started and is apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "load/window.hpp"

namespace headroom::bench {

struct LoadReport {
  std::map<std::string, std::string> about;  // created, run_id, target ...
  bool open_loop = false;
  double asked = 0;  // N, or requests a second
  std::uint64_t dropped = 0;
  load::WindowView view;
};

std::string load_json(const LoadReport& report);
std::string load_text(const LoadReport& report);

}  // namespace headroom::bench
