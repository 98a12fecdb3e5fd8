// One accepted connection of the server; only for the .cpp files of this module.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/strand.hpp>

#include "net/server.hpp"

namespace headroom::net {

class Connection;

// What all connections of one server share; outlives the Server while a connection is still open.
struct ServerState {
  ServerOptions options;
  Handler handler;
  std::optional<boost::asio::ssl::context> tls;  // set: every connection begins with its handshake
  std::atomic<bool> accepting{true};
  std::atomic<bool> closing{false};
  std::atomic<std::size_t> active{0};
  std::mutex mutex;
  std::set<std::shared_ptr<Connection>> connections;  // guarded by mutex
};

// Starts serving `socket`; it registers itself in state->connections until it closes.
void serve_connection(std::shared_ptr<ServerState> state, boost::asio::ip::tcp::socket socket);
// Closes it now (idle_only: only if no request is running). Any thread.
void close_connection(const std::shared_ptr<Connection>& connection, bool idle_only);

}  // namespace headroom::net
