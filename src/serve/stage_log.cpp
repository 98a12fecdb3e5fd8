// Writes the stage lines.
#include "serve/stage_log.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include "base/names.hpp"

namespace headroom::serve {

double process_age_s() {
  std::ifstream file("/proc/self/stat");
  std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto end_of_name = stat.rfind(')');  // the name may hold spaces; the fields after it do not
  if (end_of_name == std::string::npos) return 0.0;
  std::istringstream fields(stat.substr(end_of_name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;  // field 22 of proc(5): start time in clock ticks since boot
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double started = std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - started;
}

void StageLog::mark(std::string_view stage) {
  auto seen = seen_.lock();
  const double elapsed = process_age_s();
  if (!seen->emplace(stage, elapsed).second) return;
  fmt::print("=== STAGE {} t={} elapsed_s={:.3f} ===\n", stage, base::format_iso8601(clock_.wall()), elapsed);
  std::fflush(stdout);
}

std::map<std::string, double> StageLog::elapsed_s() const {
  return seen_.with([](const auto& seen) { return seen; });
}

}  // namespace headroom::serve
