// The thread that takes the signals.
#include "bench/interrupt.hpp"

#include <cstdio>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/error_table.hpp"

namespace headroom::bench {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // A dropped terminal session must not leave an endpoint frozen; nohup's wish (ignored) is kept.
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void block_signals() {
  const sigset_t set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void take_signals_as_usual() {
  const sigset_t set = watched();
  signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

Interrupt::Interrupt() {
  // The token comes as an argument: the thread may run before `listener_` is assigned.
  listener_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
}

Interrupt::~Interrupt() {
  listener_.request_stop();
  pthread_kill(listener_.native_handle(), SIGTERM);  // wakes sigwait
}

void Interrupt::listen(const std::stop_token& stop) {
  const sigset_t set = watched();
  while (true) {
    int number = 0;
    if (sigwait(&set, &number) != 0) continue;
    if (stop.stop_requested()) return;
    std::function<void()> second;
    {
      auto state = state_.lock();
      if (state->requested) second = state->on_second ? state->on_second : std::function<void()>([] {});
      state->requested = true;
    }
    changed_.notify_all();
    if (second) {
      second();
      std::fflush(stderr);  // not all streams: another thread may hold stdin in a read
      _exit(base::kExitInterrupted);
    }
  }
}

bool Interrupt::requested() const {
  return state_.with([](const State& state) { return state.requested; });
}

bool Interrupt::wait_for(base::Duration time) {
  auto state = state_.lock();
  const auto until = base::SystemClock::instance().steady() + time;
  return !state.wait_until(changed_, until, [&] { return state->requested; });
}

void Interrupt::on_second(std::function<void()> print) { state_.lock()->on_second = std::move(print); }

}  // namespace headroom::bench
