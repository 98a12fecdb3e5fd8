// Relay: SageMaker Runtime. Takes an invocation, picks an instance, passes the request on and the answer
// back, buffered or as an event stream, and counts what CloudWatch shows of it.
//
// An instance that answers other than 2xx, breaks off or is too slow becomes ModelError (424) before the
// first byte of an answer and ModelStreamError after it; a request never hangs and a stream never ends
// silently. A request counts as concurrent from its arrival until before the last bytes of its answer go to
// the socket: a closed-loop client's next request would otherwise be counted beside it. Everything runs on
// the loop, which must have one thread. Latencies in microseconds. Wire rules: docs/local-cloud.md,
// "Runtime".
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "cloud/world.hpp"
#include "net/client.hpp"
#include "net/server.hpp"

namespace headroom::cloud {

class Relay {
 public:
  Relay(base::Guarded<World>& world, net::Client& client, const base::Clock& clock)
      : world_(world), client_(client), clock_(clock) {}

  void invoke(const std::shared_ptr<net::Exchange>& exchange, const std::string& endpoint, bool streaming);

 private:
  base::Guarded<World>& world_;
  net::Client& client_;
  const base::Clock& clock_;
};

}  // namespace headroom::cloud
