// WebSocket client for instances on this machine: plain TCP, no proxy, no redirect.
//
// Errors in on_close's end.error: kUnavailable (cannot connect), kTimeout, kRemote (the server declined the
// upgrade; the message holds the status and what it said), kIo (the connection broke), kCancelled (cut()).
#pragma once

#include "net/loop.hpp"
#include "net/websocket.hpp"

namespace headroom::net {

struct WsRequest {
  std::string host = "127.0.0.1";  // an address literal
  std::uint16_t port = 0;
  std::string target = "/";
  Headers headers;
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds{5};  // to the end of the handshake
  WsLimits limits;
};

// Starts to connect and returns at once; what is sent before it is open waits. The connection lives until it
// ends, also when the handle is dropped.
std::shared_ptr<WebSocket> ws_connect(Loop& loop, WsRequest request, WsEvents events);

}  // namespace headroom::net
