// CpuLimits: how many cores this process may use: its affinity, and the CPU quota of its control groups.
//
// A container with `--cpus 2` sees every core of the machine and gets two: threads beyond that are stopped in
// the middle of a sentence for the rest of each period. Does not follow later changes. Thread safe. Errors:
// none; what cannot be read sets no limit. Units: cores. Source: Linux Documentation/admin-guide/cgroup-v2
// (cpu.max) and cgroup-v1/cpuacct, scheduler/sched-bwc (cpu.cfs_quota_us, cpu.cfs_period_us).
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace headroom::engine {

struct CpuLimits {
  int affinity = 1;             // cores that the scheduler may put it on
  std::optional<double> quota;  // cores' worth of time, the smallest of all its groups; none: no limit

  // Whole cores within both, at least one: half a core more would be a thread that is stopped half the time.
  int cores() const;
};

using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

// `groups`: the text of /proc/self/cgroup. Looks at each group and all above it, since each may have a quota,
// and at the mount's own root, which is what a container sees when the path is that of the machine.
std::optional<double> quota_of(const std::string& groups, const ReadText& read);

CpuLimits cpu_limits();

}  // namespace headroom::engine
