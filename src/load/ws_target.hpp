// WsTarget: requests over the container's WebSocket sessions, one outstanding request a session, sessions
// kept.
//
// For bare servers (--http ws://...). One lane. Audio is binary messages, the request's end is the text
// message synthesis_complete; error ends it as rejected or failed and leaves the session open. Cancelling
// cuts the session. Thread safety: any thread, as of Target. Errors of make(): kInvalidArgument,
// kUnavailable, kResourceExhausted.
#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/target.hpp"

namespace headroom::load {

struct WsTargetOptions {
  std::string url;  // http://host:port/path of the route
  std::size_t connections = 1;
};

class WsTarget final : public Target {
 public:
  static base::Result<std::unique_ptr<WsTarget>> make(const WsTargetOptions& options);
  ~WsTarget() override;
  void post(std::size_t lane, Work work) override;
  void at(std::size_t lane, base::SteadyTime when, Work work) override;
  std::uint64_t start(std::size_t lane, aws::InvokeRequest request, aws::InvokeEvents events) override;
  void cancel(std::size_t lane, std::uint64_t id) override;
  // Opens sessions until `count` stand; blocks, so never call it on the lane.
  base::Result<void> warm(std::size_t count, base::Deadline deadline);

  struct Impl;

 private:
  explicit WsTarget(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace headroom::load
