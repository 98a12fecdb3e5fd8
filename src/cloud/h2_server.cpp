// Listener, TLS context and the thread.
#include "cloud/h2_server.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cloud/h2_connection.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxConnections = 256;
constexpr int kTickMs = 1000;

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

base::Result<Context> make_context(const H2Options& options) {
  Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(ErrorCode::kInternal, "OpenSSL has no TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), options.certificate_file.c_str()) != 1)
    return fail(ErrorCode::kInvalidData, fmt::format("{} is not a certificate in PEM form; remove it and a "
                                                     "new one is made",
                                                     options.certificate_file));
  if (SSL_CTX_use_PrivateKey_file(context.get(), options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return fail(ErrorCode::kInvalidData,
                fmt::format("{} is not the key of {}; remove both and new ones are made", options.key_file,
                            options.certificate_file));
  SSL_CTX_set_alpn_select_cb(
      context.get(),
      [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
         unsigned offered_size, void*) {
        static constexpr unsigned char kH2[] = {2, 'h', '2'};  // the answer points into it
        unsigned char* chosen = nullptr;
        const int found = SSL_select_next_proto(&chosen, size, kH2, sizeof kH2, offered, offered_size);
        *out = chosen;
        return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
      },
      nullptr);
  return context;
}

base::Result<int> listen_on(const std::string& address, std::uint16_t port) {
  const bool six = address.find(':') != std::string::npos;
  const int fd = ::socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const bool parsed = six ? inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1
                          : inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  const auto* where = six ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  const socklen_t size = six ? sizeof v6 : sizeof v4;
  if (!parsed || ::bind(fd, where, size) != 0 || ::listen(fd, 128) != 0) {
    const int why = errno;
    ::close(fd);
    return fail(ErrorCode::kIo,
                fmt::format("cannot listen on {} port {} for HTTP/2: {}; give another --bidi-port", address,
                            port, parsed ? std::strerror(why) : "not an address"));
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

// Work for the thread. Streams hold it, and may outlive the server.
struct Mailbox {
  struct Item {
    std::uint64_t connection;
    std::function<void(H2Connection&)> work;
  };
  std::mutex mutex;
  std::vector<Item> items;
  const int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  ~Mailbox() { ::close(wake_fd); }

  void wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_fd, &one, sizeof one) < 0) return;  // full: it will look anyway
  }
  void post(std::uint64_t connection, std::function<void(H2Connection&)> work) {
    {
      std::lock_guard lock(mutex);
      items.push_back({connection, std::move(work)});
    }
    wake();
  }
  std::vector<Item> take() {
    std::uint64_t count = 0;
    while (::read(wake_fd, &count, sizeof count) > 0) {
    }
    std::lock_guard lock(mutex);
    return std::exchange(items, {});
  }
};

class Server final : public H2Server {
 public:
  Server(Context context, int listener, H2Handler handler)
      : context_(std::move(context)),
        listener_(listener),
        port_(port_of(listener)),
        handler_(std::move(handler)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ~Server() override {
    thread_.request_stop();
    mailbox_->wake();
    thread_.join();
    ::close(listener_);
  }
  std::uint16_t port() const override { return port_; }
  void stop_accepting() override {
    accepting_ = false;
    mailbox_->wake();
  }
  std::size_t active_streams() const override { return active_; }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> fds{{mailbox_->wake_fd, POLLIN, 0}};
      std::vector<std::uint64_t> ids;
      for (const auto& [id, connection] : connections_) {
        fds.push_back({connection->fd(), connection->wanted(), 0});
        ids.push_back(id);
      }
      const bool listening = accepting_ && clock_.steady() >= accept_again_;
      if (listening) fds.push_back({listener_, POLLIN, 0});
      ::poll(fds.data(), fds.size(), kTickMs);
      const auto now = clock_.steady();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (fds[i + 1].revents != 0) connections_.at(ids[i])->ready(now);
      }
      for (auto& item : mailbox_->take()) {
        const auto it = connections_.find(item.connection);
        if (it == connections_.end()) continue;
        item.work(*it->second);
        it->second->flush();
      }
      if (listening && fds.back().revents != 0) accept(now);
      if (!accepting_ && !std::exchange(refused_, true)) {
        for (const auto& [id, connection] : connections_) {
          connection->refuse_further();
          connection->flush();
        }
      }
      std::size_t streams = 0;
      std::erase_if(connections_,
                    [&](const auto& entry) { return entry.second->over() || entry.second->idle(now); });
      for (const auto& [id, connection] : connections_) streams += connection->streams();
      active_ = streams;
    }
    connections_.clear();
  }

  void accept(base::SteadyTime now) {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {  // none left; or out of descriptors, and then the listener stays readable
        if (errno == EMFILE || errno == ENFILE) accept_again_ = now + std::chrono::milliseconds{200};
        return;
      }
      SSL* ssl = connections_.size() < kMaxConnections ? SSL_new(context_.get()) : nullptr;
      if (ssl == nullptr) {
        ::close(fd);
        continue;
      }
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::uint64_t id = ++last_id_;
      connections_[id] = std::make_unique<H2Connection>(
          fd, ssl, handler_,
          [mailbox = mailbox_, id](std::function<void(H2Connection&)> work) {
            mailbox->post(id, std::move(work));
          },
          now);
    }
  }

  Context context_;
  const int listener_;
  const std::uint16_t port_;
  H2Handler handler_;
  const base::Clock& clock_ = base::SystemClock::instance();
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  std::map<std::uint64_t, std::unique_ptr<H2Connection>> connections_;
  std::uint64_t last_id_ = 0;
  base::SteadyTime accept_again_;
  std::atomic<bool> accepting_ = true;
  bool refused_ = false;
  std::atomic<std::size_t> active_ = 0;
  std::jthread thread_;
};

}  // namespace

base::Result<std::unique_ptr<H2Server>> H2Server::start(H2Options options, H2Handler handler) {
  auto context = make_context(options);
  if (!context) return tl::unexpected(context.error());
  const auto listener = listen_on(options.address, options.port);
  if (!listener) return tl::unexpected(listener.error());
  return std::make_unique<Server>(std::move(*context), *listener, std::move(handler));
}

}  // namespace headroom::cloud
