// AppendLog<T>: grows at its end by one thread, is read by any other without a lock.
//
// What was published never moves and never changes. 64 Mi entries at most; push() beyond that returns false.
// Thread safety: push() by one thread; size() and at() by any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace headroom::load {

template <class T>
class AppendLog {
 public:
  AppendLog() = default;
  ~AppendLog() {
    for (auto& block : *blocks_) delete[] block.load();
  }
  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  bool push(T value) {
    const std::size_t n = size_.load(std::memory_order_relaxed);
    if (n >= kBlocks * kBlock) return false;
    auto& block = (*blocks_)[n / kBlock];
    if (block.load(std::memory_order_relaxed) == nullptr)
      block.store(new T[kBlock], std::memory_order_relaxed);
    block.load(std::memory_order_relaxed)[n % kBlock] = std::move(value);
    size_.store(n + 1, std::memory_order_release);
    return true;
  }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  // i below a size() that the caller has read.
  const T& at(std::size_t i) const {
    return (*blocks_)[i / kBlock].load(std::memory_order_relaxed)[i % kBlock];
  }

 private:
  static constexpr std::size_t kBlock = 1024;
  static constexpr std::size_t kBlocks = 64 * 1024;
  std::unique_ptr<std::array<std::atomic<T*>, kBlocks>> blocks_ =
      std::make_unique<std::array<std::atomic<T*>, kBlocks>>();
  std::atomic<std::size_t> size_{0};
};

}  // namespace headroom::load
