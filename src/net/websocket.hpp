// WebSocket: an open connection of whole messages, the same for the server's side and the client's.
//
// Fragments, masks, ping, pong and the closing handshake are handled inside; nobody sees frames. Wire rules:
// RFC 6455; no compression. Units: bytes, chrono durations.
// Thread safety: WebSocket may be used from any thread. Events run on a loop thread, one at a time, in order,
// and must not block. on_close comes exactly once, also when opening fails, and is the last event. A message
// over the limit ends the connection with 1009, a broken frame with 1002, bad UTF-8 in a text with 1007. A
// peer that answers no ping is cut after twice `ping_after` (not while paused: its answer is not read then),
// one that takes longer than `write_timeout` for the message that is being written, and a connection without
// a message either way after `idle_limit` is closed with 1001.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "net/http.hpp"

namespace headroom::net {

struct WsLimits {
  std::size_t max_message_bytes = 1U << 20U;
  std::chrono::milliseconds idle_limit{300'000};
  std::chrono::milliseconds ping_after{30'000};
  std::chrono::milliseconds write_timeout{60'000};
};

struct WsEnd {
  std::uint16_t code = 1006;  // the peer's or our own close code; 1006: broken without one
  std::string reason;
  std::optional<base::Error> error;  // set when it could not be opened or broke
};

struct WsEvents {
  std::function<void()> on_open;  // the handshake is done
  std::function<void(std::string message, bool text)> on_message;
  std::function<void(const WsEnd& end)> on_close;
};

class WebSocket {
 public:
  virtual ~WebSocket() = default;
  // Queued; order is kept; before it is open they wait, after its end they are dropped.
  virtual void send_text(std::string message) = 0;
  virtual void send_binary(std::string message) = 0;
  // The closing handshake, after everything queued before it. What is sent later is dropped.
  virtual void close(std::uint16_t code, std::string reason) = 0;
  virtual void cut() = 0;  // at once and without a handshake
  // Back pressure towards the peer: after what is being delivered no message is read until resume().
  virtual void pause() = 0;
  virtual void resume() = 0;
  virtual std::size_t buffered_bytes() const = 0;  // sent and not yet taken by the socket
  // Runs once when buffered_bytes() <= limit or it has ended (at once if already).
  virtual void on_drained(std::size_t limit, std::function<void()> callback) = 0;
  // While busy it is not idle, although no message passes.
  virtual void set_busy(bool busy) = 0;
};

// Whether `request` asks properly for a WebSocket of version 13 (RFC 6455 section 4.2.1).
bool wants_websocket(const Request& request);

}  // namespace headroom::net
