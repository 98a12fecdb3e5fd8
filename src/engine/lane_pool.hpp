// LanePool: hands out the numbers 0..n-1, each to one caller at a time; more callers than numbers wait.
//
// Thread safe. The last one given back is the first one taken, so that warm memory is used again.
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

  explicit LanePool(int count) {
    for (int i = count - 1; i >= 0; --i) free_.lock()->push_back(i);
  }

  Lane take() {
    auto free = free_.lock();
    free.wait(freed_, [&] { return !free->empty(); });
    const int index = free->back();
    free->pop_back();
    return {*this, index};
  }

 private:
  void give_back(int index) {
    free_.lock()->push_back(index);
    freed_.notify_one();
  }

  base::Guarded<std::vector<int>> free_;
  std::condition_variable freed_;
};

}  // namespace headroom::engine
