// SimInstance: one instance in the simulation, its workers, its queue and its metrics. Used by
// simulation.cpp.
//
// Requests are served in order of arrival by whichever worker is free first; when each ends is known at its
// arrival, so no event is needed for it. Pure. Seconds. Thread safety: single.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "capacity/sim_metrics.hpp"

namespace headroom::capacity {

class SimInstance {
 public:
  SimInstance(double asked_s, double ready_s, int workers)
      : asked_s_(asked_s),
        ready_s_(ready_s),
        free_s_(static_cast<std::size_t>(workers), ready_s),
        since_s_(ready_s) {}

  double asked_s() const { return asked_s_; }
  double ready_s() const { return ready_s_; }
  bool draining() const { return draining_; }
  void drain() { draining_ = true; }
  int outstanding() const { return static_cast<int>(ends_.size() - head_); }

  // Forgets what has ended by `now`.
  void advance(double now) {
    while (head_ < ends_.size() && ends_[head_] <= now) {
      area_ += static_cast<double>(outstanding()) * (ends_[head_] - since_s_);
      since_s_ = ends_[head_];
      ++head_;
    }
    if (head_ > 256 && 2 * head_ > ends_.size()) {
      ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  // Takes a request that arrives `now`, after advance(now); returns when its first audio comes.
  double serve(double now, double work_s, double overhead_s) {
    auto worker = free_s_.begin();
    if (free_s_.size() > 1) worker = std::min_element(free_s_.begin(), free_s_.end());
    const double begin = std::max(now, *worker);
    const double end = begin + work_s;
    *worker = end;
    committed_s_ += work_s;
    area_ += static_cast<double>(outstanding()) * (now - since_s_);
    since_s_ = now;
    const double done = end + overhead_s;
    ends_.push_back(done);
    for (std::size_t i = ends_.size() - 1; i > head_ && ends_[i - 1] > ends_[i]; --i)
      std::swap(ends_[i - 1], ends_[i]);
    most_ = std::max(most_, outstanding());
    return done;
  }

  // Adds what this instance publishes for the period that ends `now`, and begins the next.
  void close_period(double now, SimBucket& bucket) {
    if (ready_s_ >= now) return;
    advance(now);
    area_ += static_cast<double>(outstanding()) * (now - since_s_);
    since_s_ = now;
    const double covered = std::min<double>(kSimPeriodS, now - ready_s_);
    // Work that was taken on and lies in the future: every busy worker is busy without a break until it is
    // free.
    double ahead = 0;
    for (const double free : free_s_) ahead += std::max(0.0, free - now);
    const double done = committed_s_ - ahead;
    const double share = (done - done_s_) / (covered * static_cast<double>(free_s_.size()));
    done_s_ = done;
    if (!draining_) {
      ++bucket.instances;
      bucket.level_mean += area_ / covered;
      bucket.level_max = std::max(bucket.level_max, static_cast<double>(most_));
      bucket.busy += share;
    }
    area_ = 0;
    most_ = outstanding();
  }

 private:
  double asked_s_, ready_s_;
  std::vector<double> free_s_;  // when each worker is free
  std::vector<double> ends_;    // of the outstanding requests, ascending from head_
  std::size_t head_ = 0;
  double since_s_;                       // up to when area_ counts
  double area_ = 0;                      // outstanding x seconds in this period
  double committed_s_ = 0, done_s_ = 0;  // work taken on; work done by the end of the last period
  int most_ = 0;
  bool draining_ = false;
};

}  // namespace headroom::capacity
