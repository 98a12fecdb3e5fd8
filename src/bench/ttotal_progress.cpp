// The line, and where it may be shown.
#include "bench/ttotal_progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace headroom::bench {
namespace {

constexpr auto kRecent = std::chrono::seconds(10);

}  // namespace

std::string progress_line(const TtotalStanding& s) {
  const std::string p95 = s.p95_ms ? fmt::format("{:.0f} ms", *s.p95_ms) : "-";
  return fmt::format("  {} {:.0f} s ago, {:.0f} of {:.0f} s, in flight {}, p95 {}", s.reached, s.reached_s,
                     s.waited_s, s.at_most_s, s.in_flight, p95);
}

TtotalProgress::TtotalProgress(const Session& session)
    : session_(session),
      wanted_(!session.options().quiet && !session.options().json && isatty(STDERR_FILENO) != 0) {}

void TtotalProgress::show(TtotalStanding standing, const load::Driver& driver, base::SteadyTime now) {
  if (!wanted_) return;
  const auto view = driver.window(now - kRecent, now);
  standing.in_flight = driver.live().in_flight;
  if (view.ttfab_ms) standing.p95_ms = view.ttfab_ms->p95;
  fmt::print(stderr, "\r{:<79}", progress_line(standing));
  std::fflush(stderr);
  shown_ = true;
}

void TtotalProgress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r{:79}\r", "");
  std::fflush(stderr);
  shown_ = false;
}

void TtotalProgress::say(const std::string& line) {
  clear();
  session_.say(line);
}

}  // namespace headroom::bench
