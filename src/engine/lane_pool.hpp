// LanePool: hands out the numbers 0..n-1, each to one caller at a time; more callers than numbers wait.
//
// Thread safe. The last one given back is the first one taken, so that warm memory is used again.
// alone() runs work that tolerates no lane in use.
#pragma once

#include <condition_variable>
#include <vector>

#include "base/guarded.hpp"

namespace headroom::engine {

class LanePool {
 public:
  // A number that goes back when it leaves its scope.
  class Lane {
   public:
    Lane(LanePool& pool, int index) : pool_(pool), index_(index) {}
    ~Lane() { pool_.give_back(index_); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    std::size_t index() const { return static_cast<std::size_t>(index_); }

   private:
    LanePool& pool_;
    int index_;
  };

  explicit LanePool(int count) : count_(count) {
    for (int i = count - 1; i >= 0; --i) free_.lock()->push_back(i);
  }

  // Runs `work` while nobody has a number: waits for those who have one, and lets nobody else take one
  // meanwhile. Where another thread does the same, returns without a word. What `work` throws comes out, and
  // the lanes can be taken again.
  template <class F>
  void alone(F&& work) {
    auto free = free_.lock();
    if (closed_) return;
    closed_ = true;
    free.wait(freed_, [&] { return free->size() == static_cast<std::size_t>(count_); });
    const auto open_again = [&] {
      closed_ = false;
      freed_.notify_all();
    };
    try {
      work();
    } catch (...) {
      open_again();
      throw;
    }
    open_again();
  }

  Lane take() {
    auto free = free_.lock();
    free.wait(freed_, [&] { return !free->empty() && !closed_; });
    const int index = free->back();
    free->pop_back();
    return {*this, index};
  }

 private:
  void give_back(int index) {
    free_.lock()->push_back(index);
    freed_.notify_all();
  }

  const int count_;
  bool closed_ = false;  // touched under free_'s lock
  base::Guarded<std::vector<int>> free_;
  std::condition_variable freed_;
};

}  // namespace headroom::engine
