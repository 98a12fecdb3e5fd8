// A bare TCP connection for tests that say things no client of ours would say.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headroom::net {

class RawLink {
 public:
  explicit RawLink(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);  // a failure shows in send()
  }
  RawLink(RawLink&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawLink& operator=(RawLink&&) = delete;
  ~RawLink() { shut(); }

  bool send(std::string_view bytes) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  std::string read_bytes(std::size_t count) {
    std::string out(count, '\0');
    const auto got = ::recv(fd_, out.data(), count, MSG_WAITALL);
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
  }
  std::string read_until(std::string_view end) {
    std::string out;
    char byte = 0;
    while (!out.ends_with(end) && ::recv(fd_, &byte, 1, 0) == 1) out.push_back(byte);
    return out;
  }
  // Takes a little at a time, `bytes_a_second` in all, as who plays what it hears does. False: the end came.
  bool read_slowly(std::chrono::milliseconds time, std::size_t bytes_a_second) {
    constexpr auto kStep = std::chrono::milliseconds(20);
    std::string some(bytes_a_second * kStep.count() / 1000, '\0');
    for (auto passed = kStep; passed <= time; passed += kStep) {
      std::this_thread::sleep_for(kStep);
      if (::recv(fd_, some.data(), some.size(), MSG_WAITALL) != static_cast<ssize_t>(some.size()))
        return false;
    }
    return true;
  }
  // All that comes; the errno that ended it, 0 for a good end.
  std::pair<std::string, int> read_to_end() {
    std::string out;
    char bytes[4096];
    for (;;) {
      const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
      if (got <= 0) return {std::move(out), got == 0 ? 0 : errno};
      out.append(bytes, static_cast<std::size_t>(got));
    }
  }
  void shut() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

}  // namespace headroom::net
