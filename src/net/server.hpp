// HTTP/1.1 and WebSocket server: limits, timeouts, request ids, streamed answers, back pressure, TLS, on
// Beast.
//
// It knows no routes: one handler gets every request. Units: bytes, chrono durations.
// Thread safety: Exchange and Server may be used from any thread. The handler runs on a loop thread and must
// not block; it may keep the Exchange and answer later. An Exchange dropped without an answer sends 500, and
// so does a handler that throws. Errors: kIo from start() when the address cannot be bound (names it),
// kInvalidData when a certificate or key cannot be used (names the file). No error ends accepting, only
// stop_accepting() and the destructor do. Wire rules: RFC 9112. A streamed answer is chunked; abort() closes
// without the final chunk, so that the client sees a broken transfer and never a short success. To a client
// of HTTP/1.0 it is sent bare and ends with the connection: by a good end (FIN, and TLS's good-bye) if it is
// whole, by a reset if not, which is all that HTTP/1.0 can tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "net/http.hpp"
#include "net/loop.hpp"
#include "net/unsent_answers.hpp"
#include "net/websocket.hpp"

namespace headroom::net {

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const Request& request() const = 0;
  // The whole answer; adds Content-Length and x-request-id. A slow client may be cut (unsent_answers.hpp).
  virtual void respond(Response response) = 0;
  virtual void begin(int status, Headers headers) = 0;  // starts a streamed answer
  virtual void write(std::string chunk) = 0;            // queued; order is kept
  virtual void finish() = 0;                            // clean end; a slow client may be cut from now on
  virtual void abort() = 0;                             // broken end
  virtual bool gone() const = 0;                        // the client closed or the socket failed
  virtual std::size_t buffered_bytes() const = 0;       // queued by write() and not yet taken by the socket
  // Runs once, on a loop thread, when the client goes away before the answer is complete (at once if
  // already).
  virtual void on_gone(std::function<void()> callback) = 0;
  // Runs once when buffered_bytes() <= limit or the client is gone (at once if already).
  virtual void on_drained(std::size_t limit, std::function<void()> callback) = 0;
  // Turns the connection into a WebSocket; only where wants_websocket(request()), and only before the handler
  // returns. `opened` runs on the loop before the handshake is answered; on_open follows it.
  virtual void accept_websocket(WsLimits limits,
                                std::function<WsEvents(std::shared_ptr<WebSocket>)> opened) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::size_t max_body_bytes = 1U << 20U;
  std::size_t max_header_bytes = 16U << 10U;
  std::chrono::seconds idle_timeout{75};              // between requests on a kept connection
  std::chrono::milliseconds request_timeout{30'000};  // from first byte to whole request
  std::chrono::milliseconds write_timeout{60'000};    // no progress while writing
  // Counts and bounds the finished answers that clients have not taken yet; not null.
  std::shared_ptr<UnsentAnswers> unsent_answers =
      std::make_shared<UnsentAnswers>(UnsentAnswers::kDefaultLimit);
  std::string server_name = "headroom";
  std::string tls_certificate_file;  // PEM chain; with tls_key_file: https and wss instead of http and ws
  std::string tls_key_file;
  // Adds headers to every answer, the early ones too (CORS).
  std::function<void(const Request& request, Headers& answer)> decorate;
  // Answer for what fails before a handler runs: 400 (malformed), 413 (body), 431 (headers), 408 (slow).
  std::function<Response(int status, const Request& seen)> early_answer;
};

class Server {
 public:
  static base::Result<std::unique_ptr<Server>> start(Loop& loop, ServerOptions options, Handler handler);
  virtual ~Server() = default;  // stops accepting and closes every connection
  virtual std::uint16_t port() const = 0;
  virtual void stop_accepting() = 0;  // closes the listener and idle connections; running requests go on
  virtual std::size_t active_requests() const = 0;
};

}  // namespace headroom::net
