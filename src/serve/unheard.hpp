// Unheard: how many messages that cost their client nothing to cause wait for it; internal to serve.
//
// Errors and cancellations are made as fast as a client sends, whatever it reads, and no limit of the work
// counts them. Thread safe. No errors.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "net/websocket.hpp"
#include "serve/speech_sink.hpp"

namespace headroom::serve {

class Unheard {
 public:
  static constexpr int kMost = 1000;

  explicit Unheard(std::shared_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  // One was sent. Who talks nonsense and never listens is cut.
  void count() {
    const int unheard = ++*count_;
    if (unheard > kMost) return socket_->cut();
    if (unheard == 1) socket_->on_drained(kBufferedLimit, [count = count_] { *count = 0; });
  }

 private:
  const std::shared_ptr<net::WebSocket> socket_;
  const std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace headroom::serve
