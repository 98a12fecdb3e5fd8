// The heap of waiting segments and the threads that empty it.
#include "serve/scheduler.hpp"

#include <algorithm>
#include <tuple>

#include <spdlog/spdlog.h>

namespace headroom::serve {

bool Scheduler::Later::operator()(const Item& a, const Item& b) const {
  if (order == Order::kFifo) return a.number > b.number;
  if (order == Order::kFifoRequests) return std::tie(a.request, a.number) > std::tie(b.request, b.number);
  return std::tie(a.deadline, a.number) > std::tie(b.deadline, b.number);
}

Scheduler::Scheduler(int workers, Order order) : later_{order} {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { work_on(); });
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
  state_.lock()->stopping = true;
  changed_.notify_all();
  workers_.clear();
}

void Scheduler::submit(base::SteadyTime deadline, std::uint64_t request, std::function<void()> work) {
  {
    auto state = state_.lock();
    state->heap.push_back({deadline, request, state->next_number++, std::move(work)});
    std::push_heap(state->heap.begin(), state->heap.end(), later_);
  }
  changed_.notify_one();
}

void Scheduler::work_on() {
  while (true) {
    std::function<void()> work;
    {
      auto state = state_.lock();
      state.wait(changed_, [&] { return state->stopping || !state->heap.empty(); });
      if (state->stopping) return;
      std::pop_heap(state->heap.begin(), state->heap.end(), later_);
      work = std::move(state->heap.back().work);
      state->heap.pop_back();
      ++state->running;
    }
    try {
      work();
    } catch (...) {  // jobs end themselves on what they throw; the worker goes on whatever comes
      spdlog::error("a segment's work threw an exception");
    }
    work = nullptr;  // whatever it holds goes before the worker counts as free
    --state_.lock()->running;
  }
}

std::size_t Scheduler::queued() const {
  return state_.with([](const State& state) { return state.heap.size(); });
}

std::size_t Scheduler::running() const {
  return state_.with([](const State& state) { return state.running; });
}

}  // namespace headroom::serve
