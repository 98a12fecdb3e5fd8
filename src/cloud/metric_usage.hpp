// Use of processor and memory by the processes of instances, from /proc, as SageMaker's instance metrics.
//
// CPUUtilization: percent of one core, 100 per core in full use (SageMaker: 0 to 100 times the cores);
// MemoryUtilization: resident memory in percent of the machine's. The first sample of a process gives no CPU
// reading. Linux alone. Single threaded. A process that is gone gives nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.hpp"

namespace headroom::cloud {

struct Usage {
  std::optional<double> cpu_percent;
  std::optional<double> memory_percent;
};

class UsageSampler {
 public:
  Usage sample(int pid, base::SteadyTime now);
  void forget(int pid) { before_.erase(pid); }

 private:
  struct Before {
    std::uint64_t ticks = 0;
    base::SteadyTime at;
  };
  std::map<int, Before> before_;
};

}  // namespace headroom::cloud
