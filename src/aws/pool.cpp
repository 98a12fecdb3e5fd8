// The Common Runtime's connection manager, configured.
#include "aws/pool.hpp"

#include <cstdint>

#include <aws/http/proxy.h>
#include <aws/io/socket.h>

namespace headroom::aws {
namespace {

constexpr auto kClosePatience = std::chrono::seconds{3};

}  // namespace

base::Result<std::unique_ptr<Pool>> Pool::make(Runtime& runtime, const EndpointUrl& endpoint,
                                               const PoolOptions& options) {
  Runtime::Impl& impl = runtime.impl();
  std::unique_ptr<Pool> pool(new Pool);
  pool->endpoint_ = endpoint;
  pool->runtime_ = &impl;

  aws_socket_options socket{};
  socket.type = AWS_SOCKET_STREAM;
  socket.domain = endpoint.host.find(':') == std::string::npos ? AWS_SOCKET_IPV4 : AWS_SOCKET_IPV6;
  socket.connect_timeout_ms = static_cast<std::uint32_t>(base::to_ms(options.connect_timeout));
  socket.tcp_nodelay = AWS_SOCKET_TCP_NODELAY_ON;
  socket.keepalive = true;
  socket.keep_alive_interval_sec = 30;
  socket.keep_alive_timeout_sec = 30;

  aws_http_connection_manager_options manager{};
  manager.bootstrap = impl.bootstrap;
  manager.initial_window_size = SIZE_MAX;
  manager.socket_options = &socket;
  manager.host = cursor(endpoint.host);
  manager.port = endpoint.port;
  manager.max_connections = options.connections;
  manager.shutdown_complete_user_data = pool->closed_.get();
  manager.shutdown_complete_callback = [](void* closed) {
    static_cast<std::promise<void>*>(closed)->set_value();
  };

  aws_tls_connection_options tls{};
  proxy_env_var_settings proxy{};
  if (endpoint.tls) {
    aws_tls_ctx* context = impl.tls();
    if (context == nullptr) {
      return base::fail(base::ErrorCode::kInvalidArgument,
                        "the TLS trust store cannot be read; check AWS_CA_BUNDLE and SSL_CERT_FILE",
                        crt_error_text(aws_last_error()));
    }
    aws_tls_connection_options_init_from_ctx(&tls, context);
    const aws_byte_cursor name = cursor(endpoint.host);
    aws_tls_connection_options_set_server_name(&tls, impl.allocator, &name);
    aws_tls_connection_options_set_alpn_list(&tls, impl.allocator, "http/1.1");
    manager.tls_connection_options = &tls;
    proxy.env_var_type =
        AWS_HPEV_ENABLE;  // https_proxy; a local http endpoint is never asked for through a proxy
    manager.proxy_ev_settings = &proxy;
  }
  pool->manager_ = aws_http_connection_manager_new(impl.allocator, &manager);
  if (endpoint.tls) aws_tls_connection_options_clean_up(&tls);
  if (pool->manager_ == nullptr) {
    return base::fail(base::ErrorCode::kInternal, "no connections to " + endpoint.url() + " can be prepared",
                      crt_error_text(aws_last_error()));
  }
  return pool;
}

Pool::~Pool() {
  if (manager_ == nullptr) return;
  auto closed = closed_->get_future();
  aws_http_connection_manager_release(manager_);
  if (closed.wait_for(kClosePatience) == std::future_status::timeout)
    runtime_->abandon(closed_, "the connections to " + endpoint_.url() + " did not close in time");
}

}  // namespace headroom::aws
