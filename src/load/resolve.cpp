// getaddrinfo.
#include "load/resolve.hpp"

#include <cstring>

#include <netdb.h>

namespace headroom::load {

base::Result<SocketAddress> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0 || found == nullptr) {
    return base::fail(base::ErrorCode::kUnavailable, "the host '" + host + "' is not known; check the URL",
                      gai_strerror(error));
  }
  SocketAddress out;
  std::memcpy(&out.address, found->ai_addr, found->ai_addrlen);
  out.length = found->ai_addrlen;
  char text[NI_MAXHOST] = {};
  if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
    out.literal = text;
  freeaddrinfo(found);
  return out;
}

}  // namespace headroom::load
