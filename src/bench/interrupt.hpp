// Interrupt: turns SIGINT, SIGTERM and SIGHUP into something that can be waited on, so that no exit path
// skips restoring.
//
// Block the signals with block_signals() before any thread starts; then one Interrupt per process. The first
// signal sets requested(); the second runs `on_second` (print the thaw line) and ends the process with 130 at
// once. Thread safe.
#pragma once

#include <condition_variable>
#include <functional>
#include <stop_token>
#include <thread>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace headroom::bench {

void block_signals();
// For commands that have nothing to restore and no Interrupt: the signals, SIGPIPE too, end them as they
// would any other program.
void take_signals_as_usual();

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  bool requested() const;
  // Waits for the time or a signal; false: interrupted. `const` waits never miss a signal that came before.
  bool wait_for(base::Duration time);
  void on_second(std::function<void()> print);

 private:
  void listen(const std::stop_token& stop);
  struct State {
    bool requested = false;
    std::function<void()> on_second;
  };
  base::Guarded<State> state_;
  std::condition_variable changed_;
  std::jthread listener_;
};

}  // namespace headroom::bench
