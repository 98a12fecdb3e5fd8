// The counter behind the tickets.
#include "serve/admission.hpp"

#include <algorithm>

namespace headroom::serve {

Admission::Admission(std::size_t limit, const base::Clock& clock) : limit_(limit), clock_(clock) {
  auto state = state_.lock();
  state->interval_start = state->changed = clock_.steady();
}

// The lock is held.
void Admission::count(State& state, std::size_t outstanding) {
  const auto now = clock_.steady();
  state.request_seconds += static_cast<double>(state.outstanding) * base::to_s(now - state.changed);
  state.changed = now;
  state.outstanding = outstanding;
  state.interval.outstanding_max = std::max(state.interval.outstanding_max, outstanding);
}

std::unique_ptr<Admission::Ticket> Admission::enter() {
  auto state = state_.lock();
  ++state->interval.offered;
  if (limit_ != 0 && state->outstanding >= limit_) return nullptr;
  ++state->interval.accepted;
  count(*state, state->outstanding + 1);
  return std::make_unique<Ticket>(*this);
}

void Admission::count_refused() { ++state_.lock()->interval.offered; }

void Admission::leave() {
  auto state = state_.lock();
  count(*state, state->outstanding - 1);
  if (state->outstanding == 0) idle_.notify_all();
}

std::size_t Admission::outstanding() const {
  return state_.with([](const State& state) { return state.outstanding; });
}

bool Admission::wait_idle(base::SteadyTime until) {
  auto state = state_.lock();
  return state.wait_until(idle_, until, [&] { return state->outstanding == 0; });
}

Admission::Interval Admission::take_interval() {
  auto state = state_.lock();
  count(*state, state->outstanding);
  Interval out = state->interval;
  const double seconds = base::to_s(state->changed - state->interval_start);
  out.outstanding_average =
      seconds > 0.0 ? state->request_seconds / seconds : static_cast<double>(state->outstanding);
  state->interval = {.outstanding_max = state->outstanding};
  state->interval_start = state->changed;
  state->request_seconds = 0.0;
  return out;
}

}  // namespace headroom::serve
