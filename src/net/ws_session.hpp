// One WebSocket on a byte stream, either role; only for the .cpp files of this module.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "net/transport.hpp"
#include "net/websocket.hpp"
#include "net/ws_client.hpp"

namespace headroom::net {

class WsSession final : public WebSocket, public std::enable_shared_from_this<WsSession> {
 public:
  WsSession(Transport transport, const WsLimits& limits);

  // Each runs on the stream's strand until the connection has ended.
  boost::asio::awaitable<void> serve(const Request& request, const std::string& server_name, WsEvents events);
  boost::asio::awaitable<void> connect(WsRequest request, WsEvents events);

  void send_text(std::string message) override { send(std::move(message), true); }
  void send_binary(std::string message) override { send(std::move(message), false); }
  void close(std::uint16_t code, std::string reason) override;
  void cut() override;
  void pause() override;
  void resume() override;
  std::size_t buffered_bytes() const override;
  void on_drained(std::size_t limit, std::function<void()> callback) override;
  void set_busy(bool busy) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Message {
    std::string data;
    bool text = false;
  };
  struct Closing {
    std::uint16_t code = 1000;
    std::string reason;
  };
  // What send() and the rest leave for the write loop. Guarded by mutex_.
  struct Queue {
    std::deque<Message> messages;
    std::optional<Closing> closing;
    std::size_t buffered = 0;
    bool ended = false;
    bool busy = false;
    Clock::time_point active{};  // last message either way, or end of being busy
    std::vector<std::pair<std::size_t, std::function<void()>>> drained;
  };

  struct Forget;
  void send(std::string message, bool text);
  void wake();
  void set_options(bool server);
  void watch_peer(bool watch);
  boost::asio::awaitable<void> run();  // reads until the end
  boost::asio::awaitable<void> while_paused();
  boost::asio::awaitable<void> write_loop();
  boost::asio::awaitable<void> watch_loop();
  boost::asio::awaitable<boost::system::error_code> handshake(const WsRequest& request);
  bool deliver(std::string message, bool text);
  void sent(std::size_t bytes);
  void end(const boost::system::error_code& error);
  void finish(WsEnd end);
  static std::vector<std::function<void()>> take_drained(Queue& queue);  // mutex_ is held

  boost::beast::websocket::stream<Transport> ws_;
  const WsLimits limits_;
  boost::asio::steady_timer wake_;
  boost::asio::steady_timer resumed_;
  boost::asio::steady_timer watch_;
  WsEvents events_;
  std::optional<base::Error> failure_;              // of opening
  std::optional<Clock::time_point> writing_since_;  // on the strand
  std::atomic<bool> paused_{false};
  bool cut_ = false;  // on the strand
  mutable std::mutex mutex_;
  Queue queue_;
};

}  // namespace headroom::net
