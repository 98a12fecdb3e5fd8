// Loop: the event loop(s) that servers, clients and timers of one program run on.
//
// Thread safety: all members may be called from any thread. Callbacks run on a loop thread and must not
// block. stop() ends the threads and drops what is still queued; the destructor calls it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace headroom::net {

class Loop {
 public:
  explicit Loop(int threads = 1);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void post(std::function<void()> work);
  void after(std::chrono::nanoseconds delay, std::function<void()> work);  // cannot be cancelled: check state
  void stop();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::net
