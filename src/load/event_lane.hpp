// EventLane: one thread with one epoll loop: sockets, timers and work that other threads hand over.
//
// Everything but post(), here() and cpu_seconds() belongs to the lane's own thread, so what runs there needs
// no lock; post() takes one for the length of a push. Timers are as exact as epoll_pwait2 (nanoseconds, plus
// the scheduler's delay); a lane with over 2,000 events a second rests between two looks, since waking up is
// the dearest part of a small read: 0.5 ms, which makes timers and reads that much later, or what rest()
// allows, which makes reads and posted work later, but no timer. Work must not block or throw. Thread safety:
// as said. Errors: make() returns kResourceExhausted where the process may open no more descriptors.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/clock_look.hpp"

namespace headroom::load {

class EventLane {
 public:
  using Work = std::function<void()>;
  struct Watcher {
    virtual ~Watcher() = default;
    virtual void ready(std::uint32_t events) = 0;  // epoll's bits
  };

  // `core`: the thread stays there. nullopt: wherever the scheduler puts it.
  static base::Result<std::unique_ptr<EventLane>> make(std::optional<int> core = std::nullopt);
  ~EventLane();  // ends the thread; work that is still queued is dropped, on the caller's thread
  EventLane(const EventLane&) = delete;
  EventLane& operator=(const EventLane&) = delete;

  void post(Work work);  // any thread; soon, in order
  bool here() const { return std::this_thread::get_id() == thread_.get_id(); }
  double cpu_seconds() const;  // any thread: CPU time of the lane's thread so far
  void stop();                 // from another thread; idempotent

  void at(base::SteadyTime when, Work work);
  // While busy, look only so often. Never more often than every 0.5 ms.
  void rest(base::Duration longest) { longest_rest_ = longest; }
  // When what is being handled was fetched. Inside ready() only.
  const ClockLook& look();
  const ClockLook& look_again();                               // and from now on
  bool watch(int fd, std::uint32_t events, Watcher& watcher);  // false: errno says why
  void change(int fd, std::uint32_t events, Watcher& watcher);
  // The watcher may be destroyed from inside its own ready(); events already fetched for it are dropped.
  void forget(int fd, Watcher& watcher);

 private:
  struct Timer {
    base::SteadyTime when;
    std::uint64_t order;
    Work work;
    bool operator<(const Timer& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  EventLane() = default;
  void run(const std::stop_token& stop);
  void run_posted();
  void run_timers();
  void rest_if_busy(std::size_t fetched);

  int epoll_ = -1;
  int wake_ = -1;
  std::mutex mutex_;  // guards posted_
  std::vector<Work> posted_;
  std::atomic<bool> woken_{false};
  std::priority_queue<Timer> timers_;
  std::uint64_t next_order_ = 0;
  base::SteadyTime last_look_{};
  base::Duration longest_rest_{};
  std::optional<ClockLook> look_;
  int busy_score_ = 0;
  std::vector<Watcher*> fetched_;  // of the batch being handled; forgotten ones become null
  std::jthread thread_;
};

}  // namespace headroom::load
