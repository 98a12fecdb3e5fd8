// Fuzzes WebSocket frames: any bytes behind a good handshake. The session must end or go on, its events keep
// their order (open, messages, one close), texts are UTF-8 and no message is over the limit.
#include <cstdint>
#include <cstdlib>
#include <future>
#include <string_view>

#include "net/server.hpp"
#include "net/test_raw_link.hpp"

namespace {

using namespace headroom::net;

constexpr std::size_t kLimit = 2000;

struct State {
  bool open = false;
  bool closed = false;
  std::promise<void> ended;
};

class Target {
 public:
  Target() {
    auto made = Server::start(loop_, {}, [this](std::shared_ptr<Exchange> exchange) {
      WsLimits limits;
      limits.max_message_bytes = kLimit;
      exchange->accept_websocket(limits,
                                 [this](std::shared_ptr<WebSocket> socket) { return events(socket); });
    });
    if (!made) std::abort();
    server_ = std::move(*made);
  }

  void run(std::string_view bytes) {
    state_ = std::make_shared<State>();
    auto ended = state_->ended.get_future();
    RawLink link(server_->port());
    link.send(
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    if (link.read_until("\r\n\r\n").find(" 101 ") == std::string::npos) std::abort();
    if (!bytes.empty()) link.send(bytes);
    link.shut();
    if (ended.wait_for(std::chrono::seconds(30)) != std::future_status::ready) std::abort();
  }

 private:
  WsEvents events(const std::shared_ptr<WebSocket>& socket) {
    auto state = state_;
    return {[state] {
              if (state->open) std::abort();
              state->open = true;
            },
            [state, socket](std::string message, bool text) {
              if (!state->open || state->closed || message.size() > kLimit) std::abort();
              text ? socket->send_text(message) : socket->send_binary(message);
            },
            [state](const WsEnd&) {
              if (state->closed) std::abort();
              state->closed = true;
              state->ended.set_value();
            }};
  }

  Loop loop_{1};
  std::shared_ptr<State> state_;
  std::unique_ptr<Server> server_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Target target;
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
