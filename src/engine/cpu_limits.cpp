// Reads affinity and control groups.
#include "engine/cpu_limits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

#include <sched.h>

#include "base/atomic_file.hpp"

namespace headroom::engine {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;

std::optional<double> number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end == text->c_str() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "-1" (v1) and "max" (v2) are no limit.
std::optional<double> ratio(std::optional<double> quota, std::optional<double> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> quota_v2(const std::string& folder, const ReadText& read) {
  const auto text = read(folder + "/cpu.max");
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  std::string quota;
  std::string period;
  words >> quota >> period;
  return ratio(number(quota), number(period));
}

std::optional<double> quota_v1(const std::string& folder, const ReadText& read) {
  return ratio(number(read(folder + "/cpu.cfs_quota_us")), number(read(folder + "/cpu.cfs_period_us")));
}

// The folder itself and everything above it: "/a/b" gives "/a/b", "/a", "".
std::vector<std::string> with_parents(std::string path) {
  std::vector<std::string> found;
  while (path.size() > 1 && path.front() == '/') {
    found.push_back(path);
    path.erase(path.rfind('/'));
  }
  found.emplace_back();
  return found;
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');) {
    if (one == word) return true;
  }
  return false;
}

std::optional<std::string> read_text(const std::string& path) {
  auto text = base::read_file(path, kMaxBytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

}  // namespace

int CpuLimits::cores() const {
  const double most = quota ? std::max(1.0, std::floor(*quota + 0.01)) : affinity;
  return std::max(1, std::min(affinity, static_cast<int>(std::min(most, 1e6))));
}

std::optional<double> quota_of(const std::string& groups, const ReadText& read) {
  std::optional<double> least;
  const auto take = [&](std::optional<double> quota) {
    if (quota && (!least || *quota < *least)) least = quota;
  };
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "3:cpu,cpuacct:/path" (v1), "0::/path" (v2)
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    for (const auto& folder : with_parents(line.substr(second + 1))) {
      if (controllers.empty()) {
        take(quota_v2("/sys/fs/cgroup" + folder, read));
        take(quota_v2("/sys/fs/cgroup/unified" + folder, read));
      } else if (has_word(controllers, "cpu")) {
        take(quota_v1("/sys/fs/cgroup/cpu" + folder, read));
        take(quota_v1("/sys/fs/cgroup/cpu,cpuacct" + folder, read));
      }
    }
  }
  return least;
}

CpuLimits cpu_limits() {
  CpuLimits limits;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) limits.affinity = std::max(1, CPU_COUNT(&set));
  limits.quota = quota_of(read_text("/proc/self/cgroup").value_or(""), read_text);
  return limits;
}

}  // namespace headroom::engine
