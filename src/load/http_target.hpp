// HttpTarget: plain HTTP/1.1 POSTs to one URL over kept connections, on its own event lanes.
//
// For bare servers (tts-bench --http): no TLS, no signature, no retry, no redirect. One lane is one thread
// with one epoll loop; requests, connections and callbacks of a lane stay on its thread, so that nothing in
// the request path takes a lock. TCP_NODELAY is on. A kept connection that the server closed while idle is
// replaced without a word; one that breaks after the request was sent is a failure and is not tried again.
// Bytes are stamped with the time at which the kernel got them, so that a lane that is late does not make the
// server look late. Thread safety: any thread. Errors of
// make(): kInvalidArgument (a URL that is none, or https), kUnavailable (the name does not resolve,
// or to several addresses of which none takes a connection),
// kResourceExhausted (descriptors or local ports; the message names the remedy).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/target.hpp"

namespace headroom::load {

struct HttpTargetOptions {
  std::string url;  // of the route: http://127.0.0.1:8080/invocations
  std::vector<std::pair<std::string, std::string>> headers;  // besides Host, Content-*, Accept, User-Agent
  std::size_t connections = 1;  // most at once, over all lanes; further requests wait inside
  std::size_t lanes = 1;
  std::vector<int> cores;  // lane i stays on cores[i]; empty: anywhere
  base::Duration connect_timeout = std::chrono::seconds{5};
};

class HttpTarget final : public Target {
 public:
  static base::Result<std::unique_ptr<HttpTarget>> make(HttpTargetOptions options);
  ~HttpTarget() override;

  std::size_t lanes() const override;
  void post(std::size_t lane, Work work) override;
  void at(std::size_t lane, base::SteadyTime when, Work work) override;
  std::uint64_t start(std::size_t lane, aws::InvokeRequest request, aws::InvokeEvents events) override;
  void cancel(std::size_t lane, std::uint64_t id) override;

  // Opens connections until `count` stand; blocks, so never call it on a lane. The first error that came.
  base::Result<void> warm(std::size_t count, base::Deadline deadline);
  double cpu_seconds() const;  // of all lanes

  struct Impl;

 private:
  explicit HttpTarget(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::load
