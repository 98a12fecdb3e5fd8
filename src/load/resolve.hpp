// Resolve: a host name and port to socket addresses, and the first of these that answers.
//
// Both block. Thread safety: shared. Error: kUnavailable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::load {

struct SocketAddress {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string literal;  // "127.0.0.1", "::1"
};
// In the resolver's order, at least one.
base::Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port);

// A name may stand for addresses at which nobody listens: localhost for ::1 where the server has 127.0.0.1
// only. Of several, each is connected to for up to `each` until one takes the connection, which is closed
// again. One alone is not tried: the first request tells. The error names every address and what came of it.
base::Result<SocketAddress> first_that_answers(const std::vector<SocketAddress>& addresses,
                                               const std::string& url, base::Duration each);

}  // namespace headroom::load
