// ProgressLine: how far something long has come, as one line on a terminal that is written over.
//
// Shown on stderr, where that is a terminal, and not with --quiet or --json. Single threaded; no errors.
#pragma once

#include <string>
#include <string_view>

#include "bench/session.hpp"
#include "load/driver.hpp"

namespace headroom::bench {

class ProgressLine {
 public:
  explicit ProgressLine(const Session& session);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  bool wanted() const { return wanted_; }  // false: show() does nothing, so its line need not be made
  void show(std::string_view line);
  void clear();                       // before anything else is printed
  void say(const std::string& line);  // clears, then session.say()

 private:
  const Session& session_;
  const bool wanted_;
  std::size_t shown_ = 0;  // characters that stand there
};

// "512 ms" of the last 10 s, "-" where there is nothing; for these lines.
std::string recent_p95(const load::Driver& driver, base::SteadyTime now);

}  // namespace headroom::bench
