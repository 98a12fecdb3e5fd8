// The loop: posted work, timers, sockets, in this order each turn.
#include "load/event_lane.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace headroom::load {
namespace {

constexpr std::size_t kBatch = 256;
// A lane that is woken more often than this looks only so often and takes what came meanwhile together:
// waking up is the dearest part of a small read. Many quick looks in a row bring it there, looks that bring
// one thing only bring it back.
constexpr base::Duration kBusySpacing = std::chrono::microseconds{500};
constexpr int kBusyScore = 16;

timespec until(base::SteadyTime when) {
  const auto left = std::max<base::Duration>(when - std::chrono::steady_clock::now(), base::Duration{});
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  return {seconds.count(), (left - seconds).count()};
}

}  // namespace

base::Result<std::unique_ptr<EventLane>> EventLane::make(std::optional<int> core) {
  std::unique_ptr<EventLane> lane(new EventLane);
  lane->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  lane->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (lane->epoll_ < 0 || lane->wake_ < 0) {
    return base::fail(base::ErrorCode::kResourceExhausted,
                      "no file descriptor is left for an event loop; raise the limit with `ulimit -n`");
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;  // the wake-up
  epoll_ctl(lane->epoll_, EPOLL_CTL_ADD, lane->wake_, &event);
  lane->thread_ = std::jthread([self = lane.get()](const std::stop_token& stop) { self->run(stop); });
  if (core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(*core), &only);
    pthread_setaffinity_np(lane->thread_.native_handle(), sizeof only, &only);  // best effort
  }
  return lane;
}

EventLane::~EventLane() {
  stop();
  if (epoll_ >= 0) close(epoll_);
  if (wake_ >= 0) close(wake_);
}

void EventLane::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  post([] {});
  thread_.join();
}

void EventLane::post(Work work) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  if (woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

double EventLane::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  if (!thread_.joinable() ||
      pthread_getcpuclockid(const_cast<std::jthread&>(thread_).native_handle(), &clock) != 0 ||
      clock_gettime(clock, &used) != 0)
    return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void EventLane::at(base::SteadyTime when, Work work) { timers_.push({when, next_order_++, std::move(work)}); }

bool EventLane::watch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void EventLane::change(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &watcher;
  epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void EventLane::forget(int fd, Watcher& watcher) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  for (Watcher*& one : fetched_) {
    if (one == &watcher) one = nullptr;
  }
}

void EventLane::run_posted() {
  std::vector<Work> work;
  woken_ = false;
  {
    std::lock_guard lock(mutex_);
    work.swap(posted_);
  }
  for (Work& one : work) one();
}

void EventLane::run_timers() {
  const auto now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.top().when <= now) {
    Work work = std::move(const_cast<Timer&>(timers_.top()).work);
    timers_.pop();
    work();
  }
}

const ClockLook& EventLane::look() { return look_ ? *look_ : look_again(); }

const ClockLook& EventLane::look_again() {
  look_ = take_look([] { return std::chrono::steady_clock::now().time_since_epoch(); },
                    [] { return std::chrono::system_clock::now().time_since_epoch(); });
  return *look_;
}

void EventLane::rest_if_busy(std::size_t fetched) {
  const auto now = std::chrono::steady_clock::now();
  const bool busy = busy_score_ >= kBusyScore ? fetched > 1 : now - last_look_ < kBusySpacing;
  busy_score_ = busy ? std::min(busy_score_ + 1, 2 * kBusyScore) : std::max(busy_score_ - 2, 0);
  if (busy_score_ < kBusyScore) {
    last_look_ = now;
    return;
  }
  auto next = last_look_ + longest_rest_;
  if (!timers_.empty()) next = std::min(next, timers_.top().when);
  next = std::max(next, last_look_ + kBusySpacing);
  if (next > now) {
    const timespec left{0, (next - now).count()};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &left, nullptr);
  }
  last_look_ = std::chrono::steady_clock::now();
}

void EventLane::run(const std::stop_token& stop) {
  prctl(PR_SET_TIMERSLACK, 1UL);  // the kernel may else be 50 us late with every timer, on purpose
  std::array<epoll_event, kBatch> events{};
  while (!stop.stop_requested()) {
    if (woken_.load(std::memory_order_acquire)) run_posted();
    run_timers();
    timespec wait{};
    if (!timers_.empty()) wait = until(timers_.top().when);
    const int got = epoll_pwait2(epoll_, events.data(), kBatch, timers_.empty() ? nullptr : &wait, nullptr);
    if (got < 0) continue;  // EINTR
    const auto count = static_cast<std::size_t>(got);
    look_.reset();
    fetched_.resize(count);
    for (std::size_t i = 0; i < count; ++i) fetched_[i] = static_cast<Watcher*>(events[i].data.ptr);
    for (std::size_t i = 0; i < count; ++i) {
      if (fetched_[i] != nullptr) {
        fetched_[i]->ready(events[i].events);
      } else if (events[i].data.ptr == nullptr) {
        std::uint64_t drained = 0;
        [[maybe_unused]] const auto read = ::read(wake_, &drained, sizeof drained);
      }
    }
    fetched_.clear();
    rest_if_busy(count);
  }
  run_posted();  // what was handed over before the end
}

}  // namespace headroom::load
