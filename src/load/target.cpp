// The Common Runtime's loop as a lane.
#include "load/target.hpp"

namespace headroom::load {

InvokerTarget::~InvokerTarget() {
  std::lock_guard lock(way_back_->mutex);
  way_back_->invoker = nullptr;
}

void InvokerTarget::post(std::size_t, Work work) { invoker_.post(std::move(work)); }

void InvokerTarget::at(std::size_t, base::SteadyTime when, Work work) { invoker_.at(when, std::move(work)); }

std::uint64_t InvokerTarget::start(std::size_t, aws::InvokeRequest request, aws::InvokeEvents events) {
  // A request that ends before it has a connection (time limit, no keys) may end on another thread.
  events.on_done = [way = way_back_, done = std::move(events.on_done)](base::SteadyTime at,
                                                                       const aws::InvokeResult& result) {
    {
      std::lock_guard lock(way->mutex);
      if (way->invoker == nullptr) return;
      if (!way->invoker->here()) return way->invoker->post([done, at, result] { done(at, result); });
    }
    done(at, result);
  };
  return invoker_.start(std::move(request), std::move(events));
}

void InvokerTarget::cancel(std::size_t, std::uint64_t id) { invoker_.cancel(id); }

}  // namespace headroom::load
