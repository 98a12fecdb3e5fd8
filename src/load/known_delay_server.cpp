// The yardstick server.
#include "load/known_delay_server.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <unordered_map>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/event_lane.hpp"

namespace headroom::load {

using base::SteadyTime;

namespace {

constexpr std::size_t kLateKept = 100'000;
constexpr int kBacklog = 4096;

SteadyTime now() { return std::chrono::steady_clock::now(); }
std::string ns(SteadyTime at) { return std::to_string(at.time_since_epoch().count()); }

// The body's length of a request's head; a head without one has no body.
std::size_t body_length(std::string_view head) {
  static constexpr std::string_view kName = "content-length:";
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto at = std::search(head.begin(), head.end(), kName.begin(), kName.end(), same);
  if (at == head.end()) return 0;
  std::size_t begin = static_cast<std::size_t>(at - head.begin()) + kName.size();
  while (begin < head.size() && head[begin] == ' ') ++begin;
  std::size_t length = 0;
  std::from_chars(head.data() + begin, head.data() + head.size(), length);
  return length;
}

}  // namespace

struct KnownDelayServer::Impl final : EventLane::Watcher {
  struct Peer;

  KnownDelayOptions options;
  int listener = -1;
  std::uint16_t port = 0;
  std::string chunk;  // framed, without its end
  std::unordered_map<int, std::shared_ptr<Peer>> peers;
  std::atomic<std::uint64_t> requests{0};
  std::atomic<int> outstanding{0}, most{0};
  std::vector<std::atomic<std::int32_t>> late_us = std::vector<std::atomic<std::int32_t>>(kLateKept);
  std::atomic<std::uint64_t> firsts{0};
  std::unique_ptr<EventLane> lane;  // last: ends first

  ~Impl() override {
    if (lane) lane->stop();
    peers.clear();
    if (listener >= 0) close(listener);
  }
  void ready(std::uint32_t) override;
};

struct KnownDelayServer::Impl::Peer final : EventLane::Watcher, std::enable_shared_from_this<Peer> {
  Peer(Impl& server, int fd) : server_(server), fd_(fd) {}
  ~Peer() override { shut(); }

  void shut() {
    if (fd_ < 0) return;
    if (busy_) --server_.outstanding;
    busy_ = false;
    server_.lane->forget(fd_, *this);
    close(fd_);
    fd_ = -1;
  }

  void ready(std::uint32_t) override {
    const auto self = shared_from_this();
    char buffer[16 * 1024];
    const auto got = ::read(fd_, buffer, sizeof buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      const int fd = fd_;
      shut();
      server_.peers.erase(fd);
      return;
    }
    in_.append(buffer, static_cast<std::size_t>(got));
    if (busy_) return;  // pipelined: after this answer
    take_request();
  }

 private:
  void take_request() {
    const auto end = in_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::size_t whole = end + 4 + body_length(std::string_view(in_).substr(0, end + 2));
    if (in_.size() < whole) return;
    in_.erase(0, whole);
    received_ = now();
    busy_ = true;
    sent_ = 0;
    const int open = ++server_.outstanding;
    if (open > server_.most) server_.most = open;
    send_at(received_ + server_.options.first);
  }

  void send_at(SteadyTime when) {
    server_.lane->at(when, [weak = weak_from_this(), when] {
      if (const auto self = weak.lock()) self->send_chunk(when);
    });
  }

  void send_chunk(SteadyTime planned) {
    if (fd_ < 0) return;
    const bool last = sent_ + 1 >= server_.options.chunks;
    std::string text;
    if (sent_ == 0) {
      const SteadyTime at = now();
      const auto late = std::chrono::duration_cast<std::chrono::microseconds>(at - planned).count();
      server_.late_us[server_.firsts++ % kLateKept] =
          static_cast<std::int32_t>(std::min<long>(late, 1L << 30));
      text = "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\nx-request-id: r" +
             ns(received_) + "-s" + ns(at) + "\r\n\r\n";
    }
    text += server_.chunk;
    if (last) text += "0\r\n\r\n";
    // A reader that does not keep up with so little is gone: what does not fit is an end of the connection.
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
      const auto self = shared_from_this();
      const int fd = fd_;
      shut();
      server_.peers.erase(fd);
      return;
    }
    ++sent_;
    if (!last) return send_at(planned + server_.options.gap);
    busy_ = false;
    --server_.outstanding;
    ++server_.requests;
    take_request();
  }

  Impl& server_;
  int fd_;
  std::string in_;
  SteadyTime received_{};
  int sent_ = 0;
  bool busy_ = false;
};

void KnownDelayServer::Impl::ready(std::uint32_t) {
  while (true) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto peer = std::make_shared<Peer>(*this, fd);
    if (lane->watch(fd, EPOLLIN | EPOLLRDHUP, *peer)) peers.emplace(fd, std::move(peer));
  }
}

KnownDelayServer::KnownDelayServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KnownDelayServer::~KnownDelayServer() = default;

base::Result<std::unique_ptr<KnownDelayServer>> KnownDelayServer::make(const KnownDelayOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  std::string samples;
  for (std::size_t i = 0; i + 1 < options.chunk_bytes; i += 2)
    samples += (i / 2) % 2 == 0 ? std::string("\x00\x20", 2) : std::string("\x00\xe0", 2);  // +-8192: audible
  char size[24];
  const auto end = std::to_chars(size, size + sizeof size, samples.size(), 16).ptr;
  impl->chunk = std::string(size, end) + "\r\n" + samples + "\r\n";
  impl->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(impl->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (bind(impl->listener, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(impl->listener, kBacklog) != 0 ||
      getsockname(impl->listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return base::fail(base::ErrorCode::kIo,
                      "port " + std::to_string(options.port) + " cannot be listened on; choose another");
  }
  impl->port = ntohs(address.sin_port);
  auto lane = EventLane::make(options.core);
  if (!lane) return tl::unexpected(lane.error());
  impl->lane = std::move(*lane);
  impl->lane->post([server = impl.get()] { server->lane->watch(server->listener, EPOLLIN, *server); });
  return std::unique_ptr<KnownDelayServer>(new KnownDelayServer(std::move(impl)));
}

std::uint16_t KnownDelayServer::port() const { return impl_->port; }

KnownDelayStats KnownDelayServer::stats() const {
  KnownDelayStats out;
  out.requests = impl_->requests;
  out.outstanding = impl_->outstanding;
  out.most_outstanding = impl_->most;
  out.cpu_s = impl_->lane->cpu_seconds();
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(impl_->firsts, kLateKept));
  std::vector<std::int32_t> late;
  for (std::size_t i = 0; i < count; ++i) late.push_back(impl_->late_us[i]);
  if (!late.empty()) {
    std::sort(late.begin(), late.end());
    out.late_p50_ms = late[(late.size() - 1) / 2] / 1000.0;
    out.late_p99_ms = late[(late.size() - 1) * 99 / 100] / 1000.0;
  }
  return out;
}

std::optional<KnownTimes> parse_known_times(std::string_view id) {
  const auto dash = id.find("-s");
  if (!id.starts_with('r') || dash == std::string_view::npos) return std::nullopt;
  const auto read = [](std::string_view text) -> std::optional<SteadyTime> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return SteadyTime(base::Duration(value));
  };
  const auto received = read(id.substr(1, dash - 1));
  const auto sent = read(id.substr(dash + 2));
  if (!received || !sent) return std::nullopt;
  return KnownTimes{*received, *sent};
}

}  // namespace headroom::load
