// The counter behind the tickets.
#include "serve/admission.hpp"

namespace headroom::serve {

std::unique_ptr<Admission::Ticket> Admission::enter() {
  auto outstanding = outstanding_.lock();
  if (limit_ != 0 && *outstanding >= limit_) return nullptr;
  ++*outstanding;
  return std::make_unique<Ticket>(*this);
}

void Admission::leave() {
  auto outstanding = outstanding_.lock();
  if (--*outstanding == 0) idle_.notify_all();
}

std::size_t Admission::outstanding() const {
  return outstanding_.with([](std::size_t n) { return n; });
}

bool Admission::wait_idle(base::SteadyTime until) {
  auto outstanding = outstanding_.lock();
  return outstanding.wait_until(idle_, until, [&] { return *outstanding == 0; });
}

}  // namespace headroom::serve
