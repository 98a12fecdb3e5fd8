// Admission: counts outstanding synthesis requests over all routes and refuses the one above the limit.
//
// Outstanding = queued + running (SPEC 1.3). A Ticket is one counted request; it is released exactly once,
// before the last bytes of the answer are handed to the socket, else the client's next request would arrive
// first and a limit of N would refuse wrongly. Thread safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace headroom::serve {

class Admission {
 public:
  Admission(std::size_t limit, const base::Clock& clock);  // 0: no limit

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

  // What happened between two readings.
  struct Interval {
    std::size_t offered = 0;  // refused ones included
    std::size_t accepted = 0;
    std::size_t outstanding_max = 0;
    double outstanding_average = 0.0;  // over time
  };

  std::unique_ptr<Ticket> enter();  // null: saturated
  void count_refused();             // one that was refused for another reason: it was offered too
  std::size_t outstanding() const;
  std::size_t limit() const { return limit_; }
  bool wait_idle(base::SteadyTime until);  // false: still busy at that time
  Interval take_interval();                // since the last call, or since the beginning

 private:
  struct State {
    std::size_t outstanding = 0;
    Interval interval;
    base::SteadyTime interval_start{};
    base::SteadyTime changed{};
    double request_seconds = 0.0;  // integral of outstanding over time
  };
  void count(State& state, std::size_t outstanding);
  void leave();

  const std::size_t limit_;
  const base::Clock& clock_;
  base::Guarded<State> state_;
  std::condition_variable idle_;
};

}  // namespace headroom::serve
