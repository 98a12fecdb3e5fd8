// Outbox: the output of one exchange, filled from any thread and emptied by the connection's coroutine.
//
// Internal to net. Thread safe; callbacks run without the lock held, each at most once.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/server.hpp"

namespace headroom::net {

class Outbox {
 public:
  // What the connection has to send next; nothing set: wait.
  struct Output {
    std::optional<Response> whole;
    std::optional<std::pair<int, Headers>> head;
    std::string chunk;
    bool finished = false;
    bool broken = false;  // aborted, or the client is gone
  };

  // The handler's side.
  void respond(Response response);
  void begin(int status, Headers headers);
  void write(std::string chunk);
  void finish();
  void abort();
  struct Upgrade {
    WsLimits limits;
    std::function<WsEvents(std::shared_ptr<WebSocket>)> opened;
  };
  void upgrade(Upgrade to);
  bool answered() const;
  bool ended() const;
  bool gone() const;
  std::size_t buffered_bytes() const;
  void on_gone(std::function<void()> callback);
  void on_drained(std::size_t limit, std::function<void()> callback);

  // The connection's side.
  Output take();
  std::optional<Upgrade> take_upgrade();
  bool empty() const;
  void sent(std::size_t bytes);
  void mark_gone();  // drops what is queued; runs every callback
  void close();      // after a clean end: nobody will leave any more

 private:
  using Callbacks = std::vector<std::function<void()>>;
  Callbacks take_drained();

  mutable std::mutex mutex_;
  std::optional<Response> whole_;
  std::optional<std::pair<int, Headers>> head_;
  std::optional<Upgrade> upgrade_;
  std::deque<std::string> chunks_;
  std::size_t buffered_ = 0;
  bool answered_ = false;  // respond() or begin() was called
  bool finished_ = false;
  bool aborted_ = false;
  bool gone_ = false;
  std::function<void()> on_gone_;
  std::vector<std::pair<std::size_t, std::function<void()>>> on_drained_;
};

// The handler's handle. Dropped without an answer it sends 500; dropped in the middle of a stream it breaks
// it off.
std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Outbox> outbox,
                                        std::shared_ptr<const Request> request, std::function<void()> wake);

}  // namespace headroom::net
