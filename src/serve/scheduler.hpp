// Scheduler: worker threads that take one segment at a time, earliest deadline first (SPEC 1.3).
//
// It knows nothing of requests or engines. Order: by deadline, then by arrival; both FIFOs, kept for
// comparison, ignore deadlines. The
// queue is bounded by admission, so it has no limit of its own. Thread safety: submit() from any thread; work
// runs on a worker, which outlives whatever it throws. stop() lets running work end, ends the workers and
// runs nothing more; the destructor calls it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <queue>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace headroom::serve {

enum class Order {
  kEarliestDeadline,
  kFifo,          // segments in the order in which they could be started
  kFifoRequests,  // all of the request that came first, then the next
};

class Scheduler {
 public:
  Scheduler(int workers, Order order);
  ~Scheduler();
  void stop();  // not from a worker
  // `request` is the arrival number of the request.
  void submit(base::SteadyTime deadline, std::uint64_t request, std::function<void()> work);
  std::size_t queued() const;
  std::size_t running() const;

 private:
  struct Item {
    base::SteadyTime deadline;
    std::uint64_t request = 0;
    std::uint64_t number = 0;
    std::function<void()> work;
  };
  struct Later {
    Order order;
    bool operator()(const Item& a, const Item& b) const;
  };
  struct State {
    std::vector<Item> heap;
    std::uint64_t next_number = 0;
    std::size_t running = 0;
    bool stopping = false;
  };
  void work_on();

  const Later later_;
  base::Guarded<State> state_;
  std::condition_variable changed_;
  std::vector<std::jthread> workers_;
};

}  // namespace headroom::serve
