// Descriptors and local ports.
#include "base/limits.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace headroom::base {

Limits read_limits() {
  Limits out;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) out.descriptors = static_cast<std::size_t>(limit.rlim_cur);
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::size_t low = 0, high = 0;
  if (range >> low >> high && high >= low) out.local_ports = high - low + 1;
  return out;
}

Limits raise_limits(std::size_t descriptors_wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  const Limits out = read_limits();
  const int highest = static_cast<int>(std::min(out.descriptors, descriptors_wanted)) - 1;
  const int source = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (source >= 0 && highest > source) {
    const int grown = fcntl(source, F_DUPFD_CLOEXEC, highest);
    if (grown >= 0) close(grown);
  }
  if (source >= 0) close(source);
  return out;
}

Result<void> check_limits(const Limits& limits, std::size_t connections, std::size_t own) {
  const std::size_t wanted = connections + own;
  if (limits.descriptors < wanted) {
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(connections) + " connections need " + std::to_string(wanted) +
                    " file descriptors, and this process may have " + std::to_string(limits.descriptors) +
                    "; raise the limit with `ulimit -n " + std::to_string(wanted) + "` or ask for fewer");
  }
  if (limits.local_ports != 0 && limits.local_ports < connections) {
    return fail(ErrorCode::kResourceExhausted,
                std::to_string(connections) + " connections to one server need as many local ports, and " +
                    std::to_string(limits.local_ports) +
                    " are set aside; widen them with `sysctl net.ipv4.ip_local_port_range=\"1024 "
                    "65535\"` or ask for fewer");
  }
  return {};
}

}  // namespace headroom::base
