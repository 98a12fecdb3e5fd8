// Reading /proc/PID/stat and /proc/PID/statm.
#include "cloud/metric_usage.hpp"

#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace headroom::cloud {
namespace {

std::optional<std::uint64_t> cpu_ticks(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto name_end = line.rfind(')');  // the name may hold spaces
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(name_end + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) rest >> skipped;  // state ... cmajflt
  std::uint64_t user = 0, system = 0;
  if (!(rest >> user >> system)) return std::nullopt;
  return user + system;
}

std::optional<double> memory_percent(int pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  double size = 0, resident = 0;
  const long pages = sysconf(_SC_PHYS_PAGES);
  if (!(file >> size >> resident) || pages <= 0) return std::nullopt;
  return 100 * resident / static_cast<double>(pages);
}

}  // namespace

Usage UsageSampler::sample(int pid, base::SteadyTime now) {
  Usage usage;
  usage.memory_percent = memory_percent(pid);
  const auto ticks = cpu_ticks(pid);
  if (!ticks) return usage;
  const auto known = before_.find(pid);
  if (known != before_.end() && now > known->second.at && *ticks >= known->second.ticks) {
    const double used_s =
        static_cast<double>(*ticks - known->second.ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
    usage.cpu_percent = 100 * used_s / base::to_s(now - known->second.at);
  }
  before_[pid] = {*ticks, now};
  return usage;
}

}  // namespace headroom::cloud
