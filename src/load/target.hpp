// Target: where the load driver sends its requests; a fake in tests, HttpTarget and InvokerTarget in the
// programs.
//
// A target has lanes: one thread with one event loop each. Work handed to a lane, its requests and their
// callbacks all run on that lane's thread, so that who drives it needs no lock. start() and cancel() are
// called on the lane's thread only; start() must not block; callbacks come in order, on_done exactly once,
// and inside start() only if the request could not be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "aws/invoke.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::load {

class Target {
 public:
  using Work = std::function<void()>;
  virtual ~Target() = default;
  virtual std::size_t lanes() const { return 1; }
  virtual void post(std::size_t lane, Work work) = 0;                       // any thread; soon
  virtual void at(std::size_t lane, base::SteadyTime when, Work work) = 0;  // the lane's thread
  virtual std::uint64_t start(std::size_t lane, aws::InvokeRequest request, aws::InvokeEvents events) = 0;
  virtual void cancel(std::size_t lane, std::uint64_t id) = 0;
};

// The AWS transports: one lane, which is the Common Runtime's event loop. A request that survives every
// cancellation may end when the target is gone; then nobody is told.
class InvokerTarget final : public Target {
 public:
  explicit InvokerTarget(aws::Invoker& invoker) : invoker_(invoker), way_back_(std::make_shared<WayBack>()) {
    way_back_->invoker = &invoker;
  }
  ~InvokerTarget() override;
  InvokerTarget(const InvokerTarget&) = delete;
  InvokerTarget& operator=(const InvokerTarget&) = delete;
  void post(std::size_t lane, Work work) override;
  void at(std::size_t lane, base::SteadyTime when, Work work) override;
  std::uint64_t start(std::size_t lane, aws::InvokeRequest request, aws::InvokeEvents events) override;
  void cancel(std::size_t lane, std::uint64_t id) override;

 private:
  struct WayBack {
    std::mutex mutex;
    aws::Invoker* invoker = nullptr;  // null: the target is gone
  };
  aws::Invoker& invoker_;
  const std::shared_ptr<WayBack> way_back_;
};

}  // namespace headroom::load
