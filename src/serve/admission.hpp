// Admission: counts outstanding synthesis requests over all routes and refuses the one above the limit.
//
// Outstanding = queued + running (SPEC 1.3). A Ticket is one counted request; it is released exactly once,
// before the last bytes of the answer are handed to the socket, else the client's next request would arrive
// first and a limit of N would refuse wrongly. Thread safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace headroom::serve {

class Admission {
 public:
  explicit Admission(std::size_t limit) : limit_(limit) {}  // 0: none

  class Ticket {
   public:
    explicit Ticket(Admission& admission) : admission_(&admission) {}
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() { release(); }
    void release() {
      if (!released_.exchange(true)) admission_->leave();
    }

   private:
    Admission* admission_;
    std::atomic<bool> released_{false};
  };

  std::unique_ptr<Ticket> enter();  // null: saturated
  std::size_t outstanding() const;
  std::size_t limit() const { return limit_; }
  bool wait_idle(base::SteadyTime until);  // false: still busy at that time

 private:
  void leave();
  const std::size_t limit_;
  base::Guarded<std::size_t> outstanding_;
  std::condition_variable idle_;
};

}  // namespace headroom::serve
