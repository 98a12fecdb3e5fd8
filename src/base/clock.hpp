// Clock: the only way the code learns the time, injected so that tests can turn it by hand.
//
// Steady time orders and measures; wall time goes into artifacts and metrics and is never subtracted.
// SystemClock is shared and thread safe. FakeClock is thread safe and moves only when told.
#pragma once

#include <chrono>
#include <mutex>

namespace headroom::base {

using SteadyTime = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;
using Duration = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime steady() const = 0;
  virtual WallTime wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  SteadyTime steady() const override;
  WallTime wall() const override;
  static SystemClock& instance();
};

class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall = WallTime{std::chrono::seconds{1'800'000'000}}) : wall_(wall) {}
  SteadyTime steady() const override {
    std::lock_guard lock(mutex_);
    return steady_;
  }
  WallTime wall() const override {
    std::lock_guard lock(mutex_);
    return wall_;
  }
  void advance(Duration by) {
    std::lock_guard lock(mutex_);
    steady_ += by;
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  }

 private:
  mutable std::mutex mutex_;
  SteadyTime steady_{std::chrono::hours{1}};
  WallTime wall_;
};

// A point in steady time after which work is pointless; passed down instead of a duration.
struct Deadline {
  SteadyTime at;
  static Deadline after(const Clock& clock, Duration d) { return {clock.steady() + d}; }
  bool passed(const Clock& clock) const { return clock.steady() >= at; }
  Duration left(const Clock& clock) const { return at - clock.steady(); }
};

inline double to_ms(Duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
inline double to_s(Duration d) { return std::chrono::duration<double>(d).count(); }
inline Duration from_s(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}
inline Duration from_ms(double ms) { return from_s(ms / 1000.0); }

}  // namespace headroom::base
