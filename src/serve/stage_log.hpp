// Stage log: the lines by which ttotal learns when an instance reached each stage of its start (SPEC 1.5).
//
// `=== STAGE <name> t=<ISO 8601 with ms>Z elapsed_s=<since process start> ===` on stdout, each name once,
// flushed at once. Thread safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace headroom::serve {

// Seconds since the kernel started this process: what came before main() counts too.
double process_age_s();

class StageLog {
 public:
  explicit StageLog(const base::Clock& clock) : clock_(clock) {}
  void mark(std::string_view stage);
  std::map<std::string, double> elapsed_s() const;  // what was marked so far

 private:
  const base::Clock& clock_;
  base::Guarded<std::map<std::string, double>> seen_;
};

}  // namespace headroom::serve
