// The byte stream under a connection: TCP, or TLS over TCP; only for the .cpp files of this module.
//
// One type for both, so that HTTP and WebSocket code exists once. Fulfils Asio's AsyncReadStream and
// AsyncWriteStream and what Beast's WebSocket asks of a next layer. Movable while no operation runs.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace headroom::net {

class Transport {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using next_layer_type = boost::beast::tcp_stream;
  using Tls = boost::asio::ssl::stream<boost::beast::tcp_stream&>;

  explicit Transport(boost::asio::ip::tcp::socket socket)
      : tcp_(std::make_unique<next_layer_type>(std::move(socket))) {}
  explicit Transport(const executor_type& executor) : tcp_(std::make_unique<next_layer_type>(executor)) {}

  Tls& use_tls(boost::asio::ssl::context& context) {
    tls_ = std::make_unique<Tls>(*tcp_, context);
    return *tls_;
  }
  executor_type get_executor() { return tcp_->get_executor(); }
  Tls* tls() { return tls_.get(); }  // null: plain TCP
  next_layer_type& next_layer() { return *tcp_; }
  const next_layer_type& next_layer() const { return *tcp_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_)
            tls_->async_read_some(into, std::move(handler));
          else
            tcp_->async_read_some(into, std::move(handler));
        },
        token, buffers);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_)
            tls_->async_write_some(from, std::move(handler));
          else
            tcp_->async_write_some(from, std::move(handler));
        },
        token, buffers);
  }

 private:
  std::unique_ptr<next_layer_type> tcp_;
  std::unique_ptr<Tls> tls_;
};

// Beast finds these by name. TLS ends with the TCP connection: every WebSocket message says where it ends.
inline void teardown(boost::beast::role_type role, Transport& transport, boost::system::error_code& error) {
  teardown(role, transport.next_layer(), error);
}
template <class Handler>
void async_teardown(boost::beast::role_type role, Transport& transport, Handler&& handler) {
  async_teardown(role, transport.next_layer(), std::forward<Handler>(handler));
}

}  // namespace headroom::net
