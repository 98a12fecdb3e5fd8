// How far a ttotal has come, as one line on a terminal that is written over.
//
// Shown where the other commands show theirs: on stderr if that is a terminal, and not with --quiet or
// --json. Single threaded.
#pragma once

#include <optional>
#include <string>

#include "bench/session.hpp"
#include "load/driver.hpp"

namespace headroom::bench {

struct TtotalStanding {
  std::string reached;   // the latest stamp
  double reached_s = 0;  // since when
  double waited_s = 0, at_most_s = 0;
  int in_flight = 0;
  std::optional<double> p95_ms;  // of the last 10 s
};
// "  container_started 4 s ago, 187 of 3600 s, in flight 10, p95 512 ms"
std::string progress_line(const TtotalStanding& standing);

class TtotalProgress {
 public:
  explicit TtotalProgress(const Session& session);
  ~TtotalProgress() { clear(); }
  TtotalProgress(const TtotalProgress&) = delete;
  TtotalProgress& operator=(const TtotalProgress&) = delete;
  void show(TtotalStanding standing, const load::Driver& driver, base::SteadyTime now);
  void clear();                       // before anything else is printed
  void say(const std::string& line);  // clears, then session.say()

 private:
  const Session& session_;
  bool wanted_;
  bool shown_ = false;
};

}  // namespace headroom::bench
