// Limits: whether this process may open as many connections as a load needs, checked before it starts.
//
// read_limits() only reads. raise_limits() raises the soft limit of descriptors to the hard one and grows the
// kernel's table at once: later growth stalls a threaded process by 7 to 15 ms each time. Call it before
// threads start. Linux. Errors: kResourceExhausted; the message names the limit, what is needed and the
// remedy.
#pragma once

#include <cstddef>

#include "base/result.hpp"

namespace headroom::base {

struct Limits {
  std::size_t descriptors = 0;  // that this process may have open
  std::size_t local_ports = 0;  // for connections to one address and port; 0: not known
};

Limits read_limits();
Limits raise_limits(std::size_t descriptors_wanted);
// `connections` at once to one server; `own`: descriptors for everything else.
Result<void> check_limits(const Limits& limits, std::size_t connections, std::size_t own = 64);

}  // namespace headroom::base
