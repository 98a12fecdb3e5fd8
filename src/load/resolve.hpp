// Resolve: a host name and port to a socket address. Blocks. Error: kUnavailable.
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

#include "base/result.hpp"

namespace headroom::load {

struct SocketAddress {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string literal;  // "127.0.0.1", "::1"
};
base::Result<SocketAddress> resolve(const std::string& host, std::uint16_t port);

}  // namespace headroom::load
