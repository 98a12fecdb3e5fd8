// Where one request of a WebSocket session is answered; internal to serve.
//
// Thread safe. No errors.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "net/websocket.hpp"
#include "serve/speech_json.hpp"
#include "serve/speech_sink.hpp"

namespace headroom::serve {

// Where one request's audio goes. Closed by its job's end or by a cancellation, whichever is first; nothing
// of it reaches the socket afterwards.
class SessionSink final : public SpeechSink {
 public:
  static constexpr std::size_t kFrameBytes = 32U << 10U;  // even: a frame of PCM never ends within a sample

  // `end` sends the last message it is given, and does what else belongs to the end.
  SessionSink(std::shared_ptr<net::WebSocket> socket, std::string id, std::function<void(std::string)> end)
      : socket_(std::move(socket)), id_(std::move(id)), end_(std::move(end)) {}

  const std::string& request_id() const override { return id_; }
  void begin(const SpeechStart& start) override { say(start_json(start, id_)); }
  void audio(std::string bytes) override {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    for (std::size_t at = 0; at < bytes.size(); at += kFrameBytes)
      socket_->send_binary(bytes.substr(at, kFrameBytes));
  }
  void complete(const SpeechSummary& summary) override { end(complete_json(summary, id_)); }
  void whole(const SpeechStart& start, std::string bytes, const SpeechSummary& summary) override {
    begin(start);
    audio(std::move(bytes));
    complete(summary);
  }
  void fail(const ApiFailure& failure) override { end(error_json(failure, id_)); }
  void on_gone(std::function<void()>) override {}  // the session cancels its jobs when the socket ends
  void on_drained(std::size_t limit, std::function<void()> callback) override {
    socket_->on_drained(limit, std::move(callback));
  }
  void end(std::string last) {
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(closed_, true)) return;
    }
    end_(std::move(last));
  }

 private:
  void say(std::string message) {
    std::lock_guard lock(mutex_);
    if (!closed_) socket_->send_text(std::move(message));
  }
  const std::shared_ptr<net::WebSocket> socket_;
  const std::string id_;
  const std::function<void(std::string)> end_;
  std::mutex mutex_;
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace headroom::serve
