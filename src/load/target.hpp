// Target: where the load driver sends its requests; a fake in tests, InvokerTarget in the programs.
//
// start() must not block; callbacks come on any thread, in order, on_done exactly once and not before start()
// has returned unless the request could not be sent. Thread safety: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "aws/invoke.hpp"
#include "base/result.hpp"

namespace headroom::load {

class Target {
 public:
  virtual ~Target() = default;
  virtual std::uint64_t start(aws::InvokeRequest request, aws::InvokeEvents events) = 0;
  virtual void cancel(std::uint64_t id) = 0;
};

class InvokerTarget final : public Target {
 public:
  explicit InvokerTarget(aws::Invoker& invoker) : invoker_(invoker) {}
  std::uint64_t start(aws::InvokeRequest request, aws::InvokeEvents events) override {
    return invoker_.start(std::move(request), std::move(events));
  }
  void cancel(std::uint64_t id) override { invoker_.cancel(id); }

 private:
  aws::Invoker& invoker_;
};

}  // namespace headroom::load
