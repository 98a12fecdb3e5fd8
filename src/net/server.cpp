// Listens, accepts for ever, and gives each connection its own strand.
#include "net/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "net/loop_impl.hpp"
#include "net/server_connection.hpp"

namespace headroom::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<void> accept_for_ever(std::shared_ptr<tcp::acceptor> acceptor,
                                      std::shared_ptr<ServerState> state) {
  asio::steady_timer pause(acceptor->get_executor());
  while (acceptor->is_open()) {
    tcp::socket socket(asio::make_strand(acceptor->get_executor()));
    auto [error] = co_await acceptor->async_accept(socket, asio::as_tuple(asio::use_awaitable));
    if (!error) {
      serve_connection(state, std::move(socket));
    } else if (acceptor->is_open()) {  // out of descriptors, or the peer left already: go on, but do not spin
      pause.expires_after(std::chrono::milliseconds(10));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }
}

base::Result<asio::ssl::context> make_tls(const std::string& certificate_file, const std::string& key_file) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  const auto bad = [](const std::string& file, const boost::system::error_code& error) {
    return base::fail(base::ErrorCode::kInvalidData,
                      fmt::format("cannot use '{}': {}; give a PEM file", file, error.message()));
  };
  boost::system::error_code error;
  context.set_options(asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                          asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                      error);
  context.use_certificate_chain_file(certificate_file, error);
  if (error) return bad(certificate_file, error);
  context.use_private_key_file(key_file, asio::ssl::context::pem, error);  // must belong to the certificate
  if (error) return bad(key_file, error);
  return context;
}

class ServerImpl final : public Server {
 public:
  ServerImpl(std::shared_ptr<ServerState> state, std::shared_ptr<tcp::acceptor> acceptor)
      : state_(std::move(state)), acceptor_(std::move(acceptor)), port_(acceptor_->local_endpoint().port()) {
    asio::co_spawn(acceptor_->get_executor(), accept_for_ever(acceptor_, state_), asio::detached);
  }
  ~ServerImpl() override {
    state_->closing = true;
    close_all(false);
    // If the loop ends before they have closed, nothing but it may keep them.
    std::set<std::shared_ptr<Connection>> rest;
    std::lock_guard lock(state_->mutex);
    rest.swap(state_->connections);
  }
  std::uint16_t port() const override { return port_; }
  void stop_accepting() override { close_all(true); }
  std::size_t active_requests() const override { return state_->active; }

 private:
  void close_all(bool idle_only) {
    state_->accepting = false;
    asio::post(acceptor_->get_executor(), [acceptor = acceptor_] {
      boost::system::error_code ignored;
      acceptor->close(ignored);
    });
    std::lock_guard lock(state_->mutex);
    for (const auto& connection : state_->connections) close_connection(connection, idle_only);
  }
  std::shared_ptr<ServerState> state_;
  std::shared_ptr<tcp::acceptor> acceptor_;
  std::uint16_t port_;
};

}  // namespace

base::Result<std::unique_ptr<Server>> Server::start(Loop& loop, ServerOptions options, Handler handler) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) {
    return base::fail(
        base::ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not an IP address to listen on; use one such as 127.0.0.1", options.address));
  }
  auto acceptor = std::make_shared<tcp::acceptor>(asio::make_strand(loop.impl().context));
  const tcp::endpoint endpoint(address, options.port);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return base::fail(base::ErrorCode::kIo,
                      fmt::format("cannot listen on {}:{}: {}; stop what uses the port or choose another",
                                  options.address, options.port, error.message()));
  }
  auto state = std::make_shared<ServerState>();
  if (!options.tls_certificate_file.empty()) {
    auto context = make_tls(options.tls_certificate_file, options.tls_key_file);
    if (!context) return tl::unexpected(context.error());
    state->tls.emplace(std::move(*context));
  }
  state->options = std::move(options);
  state->handler = std::move(handler);
  return std::make_unique<ServerImpl>(std::move(state), std::move(acceptor));
}

}  // namespace headroom::net
