// Guarded<T>: a value that can only be reached while its mutex is held.
//
// `auto locked = state.lock(); locked->count++;` Waiting on a condition: `locked.wait(cv, predicate)`.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

namespace headroom::base {

template <class T>
class Guarded {
 public:
  class Locked {
   public:
    Locked(T& value, std::mutex& mutex) : lock_(mutex), value_(value) {}
    T* operator->() { return &value_; }
    T& operator*() { return value_; }
    template <class Predicate>
    void wait(std::condition_variable& cv, Predicate predicate) {
      cv.wait(lock_, std::move(predicate));
    }
    template <class TimePoint, class Predicate>
    bool wait_until(std::condition_variable& cv, TimePoint until, Predicate predicate) {
      return cv.wait_until(lock_, until, std::move(predicate));
    }
    void unlock() { lock_.unlock(); }

   private:
    std::unique_lock<std::mutex> lock_;
    T& value_;
  };

  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}
  Locked lock() { return Locked(value_, mutex_); }
  template <class F>
  auto with(F&& f) {
    std::lock_guard guard(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <class F>
  auto with(F&& f) const {
    std::lock_guard guard(mutex_);
    return std::forward<F>(f)(static_cast<const T&>(value_));
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace headroom::base
