// For tests only: a tiny HTTP/1.1 server on 127.0.0.1 that answers with raw bytes, so that faults can be put
// on the wire.
//
// One thread per connection; the handler writes what it likes to the socket and says whether the connection
// stays.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace headroom::aws::test {

struct RawRequest {
  std::string head;  // request line and headers
  std::string body;
  std::string line() const { return head.substr(0, head.find("\r\n")); }
  std::string header(const std::string& lower_case_name) const {
    std::string lowered = head;
    for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto at = lowered.find("\r\n" + lower_case_name + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + 4 + lower_case_name.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

inline void write_all(int fd, const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

inline std::string chunk(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string size;
  for (std::size_t n = bytes.size(); n > 0; n /= 16) size.insert(size.begin(), digits[n % 16]);
  return size + "\r\n" + bytes + "\r\n";
}

inline std::string plain_answer(int status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class TestServer {
 public:
  // Returns true to keep the connection for another request.
  using Handler = std::function<bool(int fd, const RawRequest& request)>;

  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    socklen_t length = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    ::listen(listener_, 128);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~TestServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      std::lock_guard lock(mutex_);
      for (int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : connections_) thread.join();
  }
  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int accepted() const { return accepted_; }

 private:
  void accept_all() {
    while (!stopping_) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      ++accepted_;
      std::lock_guard lock(mutex_);
      open_.push_back(fd);
      connections_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    std::string buffer;
    RawRequest request;
    while (read_request(fd, buffer, request) && handler_(fd, request)) {
    }
    std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }
  static bool read_request(int fd, std::string& buffer, RawRequest& out) {
    const auto more = [&] {
      char bytes[4096];
      const ssize_t n = ::recv(fd, bytes, sizeof(bytes), 0);
      if (n <= 0) return false;
      buffer.append(bytes, static_cast<std::size_t>(n));
      return true;
    };
    std::size_t end;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return false;
    }
    out.head = buffer.substr(0, end + 2);
    const std::string length = out.header("content-length");
    const std::size_t body = length.empty() ? 0 : std::stoul(length);
    while (buffer.size() < end + 4 + body) {
      if (!more()) return false;
    }
    out.body = buffer.substr(end + 4, body);
    buffer.erase(0, end + 4 + body);
    return true;
  }

  Handler handler_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> connections_;
};

}  // namespace headroom::aws::test
