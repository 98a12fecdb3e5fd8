// Inflow: back pressure from the loop to a client's stream: what is queued for the loop, and what the
// container's socket has not taken.
//
// Either of them stops the acknowledging of the stream's data; it goes on when neither does. The connection
// reads up to 1 MiB before it sees the pause. Thread safe: the connection's thread adds, the loop takes; the
// lock makes the order of pause() and resume() that of what caused them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "cloud/h2_server.hpp"

namespace headroom::cloud {

class Inflow {
 public:
  static constexpr std::size_t kPauseAbove = 1U << 20U;
  static constexpr std::size_t kResumeBelow = 256U << 10U;

  explicit Inflow(std::shared_ptr<H2Stream> stream) : stream_(std::move(stream)) {}

  void add(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    queued_ += bytes;
    if (queued_ > kPauseAbove) full_ = true;
    tell();
  }
  void take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    queued_ -= bytes;
    if (queued_ <= kResumeBelow) full_ = false;
    tell();
  }
  void block(bool by_socket) {
    const std::lock_guard lock(mutex_);
    blocked_ = by_socket;
    tell();
  }

 private:
  void tell() {
    const bool pause = full_ || blocked_;
    if (pause == paused_) return;
    paused_ = pause;
    pause ? stream_->pause() : stream_->resume();
  }

  const std::shared_ptr<H2Stream> stream_;
  std::mutex mutex_;
  std::size_t queued_ = 0;
  bool full_ = false, blocked_ = false, paused_ = false;
};

}  // namespace headroom::cloud
