// Writes over what stands there, blanks included.
#include "bench/progress_line.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace headroom::bench {
namespace {

constexpr auto kRecent = std::chrono::seconds(10);

}  // namespace

ProgressLine::ProgressLine(const Session& session)
    : session_(session),
      wanted_(!session.options().quiet && !session.options().json && isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(std::string_view line) {
  if (!wanted_) return;
  fmt::print(stderr, "\r{:<{}}", line, shown_);
  std::fflush(stderr);
  shown_ = std::max(shown_, line.size());
}

void ProgressLine::clear() {
  if (shown_ == 0) return;
  fmt::print(stderr, "\r{:{}}\r", "", shown_);
  std::fflush(stderr);
  shown_ = 0;
}

void ProgressLine::say(const std::string& line) {
  clear();
  session_.say(line);
}

std::string recent_p95(const load::Driver& driver, base::SteadyTime now) {
  const auto view = driver.window(now - kRecent, now);
  return view.ttfab_ms ? fmt::format("{:.0f} ms", view.ttfab_ms->p95) : "-";
}

}  // namespace headroom::bench
