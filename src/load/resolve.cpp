// getaddrinfo, and a connection to each address.
#include "load/resolve.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <netdb.h>
#include <poll.h>
#include <unistd.h>

namespace headroom::load {
namespace {

// 0, or errno of what failed.
int wait_for_connect(int fd, base::Duration longest) {
  pollfd wanted{fd, POLLOUT, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  const int ready = poll(&wanted, 1, static_cast<int>(left));
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int try_connect(const SocketAddress& to, base::Duration longest) {
  const int fd = socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = connect(fd, reinterpret_cast<const sockaddr*>(&to.address), to.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = wait_for_connect(fd, longest);
  close(fd);
  return error;
}

}  // namespace

base::Result<std::vector<SocketAddress>> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0 || found == nullptr) {
    return base::fail(base::ErrorCode::kUnavailable, "the host '" + host + "' is not known; check the URL",
                      gai_strerror(error));
  }
  std::vector<SocketAddress> out;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    SocketAddress address;
    std::memcpy(&address.address, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
    char text[NI_MAXHOST] = {};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      address.literal = text;
    out.push_back(std::move(address));
  }
  freeaddrinfo(found);
  return out;
}

base::Result<SocketAddress> first_that_answers(const std::vector<SocketAddress>& addresses,
                                               const std::string& url, base::Duration each) {
  if (addresses.size() == 1) return addresses.front();
  std::string tried;
  for (const SocketAddress& address : addresses) {
    const int error = try_connect(address, each);
    if (error == 0) return address;
    tried += (tried.empty() ? "" : ", ") + address.literal + ": " + std::generic_category().message(error);
  }
  return base::fail(
      base::ErrorCode::kUnavailable,
      "cannot connect to " + url + " at any of its addresses; is it running, and is the URL right?", tried);
}

}  // namespace headroom::load
