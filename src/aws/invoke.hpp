// Invoker: asynchronous inference requests for the load driver, with the time of every piece of the answer.
//
// Four transports: bidirectional (bidi_invoker.hpp), response-stream (InvokeEndpointWithResponseStream, event
// frames decoded and checked), buffered (InvokeEndpoint) and http (plain POST to any URL, unsigned). Never
// retries: a measurement counts each attempt. Times are steady and taken on the loop thread in the callback
// that brought the bytes. For response-stream the first byte is the first payload segment of an event, not
// the headers of the answer; a frame's CRC is checked after its payload was handed over, and a bad one ends
// the request as failed. A stream whose last frame is cut short, although the HTTP body ended properly, is
// failed, never a short success. Thread safety: any thread. Callbacks run on a loop thread (on_done may run
// inside start() if the request cannot even be sent), in order, on_done exactly once; they must not block or
// throw.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aws/credentials.hpp"
#include "aws/runtime.hpp"
#include "aws/settings.hpp"
#include "base/clock.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace headroom::aws {

enum class InvokeTransport { kResponseStream, kBidirectional, kBuffered, kHttp };
std::string_view name_of(InvokeTransport transport);  // response-stream, bidirectional, buffered, http
base::Result<InvokeTransport> parse_invoke_transport(std::string_view name);

enum class Outcome {
  kOk,        // a whole, valid answer with status 2xx
  kRejected,  // the server's queue is full: 503 of the container (behind SageMaker: ModelError with
              // OriginalStatusCode 503)
  kFailed,    // any other error of server, stream or connection
  kTimedOut,  // the request's own time limit passed
  kAborted,   // cancelled by us
};
std::string_view name_of(Outcome outcome);  // ok, rejected, failed, timed_out, aborted

struct InvokeRequest {
  std::string body;
  std::string content_type = "application/json";
  std::string accept;  // "" = none
  base::Duration timeout = std::chrono::seconds{60};
};

struct InvokeResult {
  Outcome outcome = Outcome::kFailed;
  int status = 0;     // HTTP status, or the container's own where SageMaker reports it; 0 = no answer
  std::string error;  // "" if ok: the error's type and message
  std::string server_request_id;  // x-request-id, else x-amzn-requestid
  std::string content_type;       // of the audio
  std::string variant;            // the production variant that answered
};

struct InvokeEvents {
  std::function<void(base::SteadyTime at)> on_connected;  // it has a connection, new or kept
  std::function<void(base::SteadyTime at, std::string_view bytes)> on_data;
  std::function<void(base::SteadyTime at, const InvokeResult& result)> on_done;
};

struct InvokerOptions {
  InvokeTransport transport = InvokeTransport::kResponseStream;
  std::string endpoint;                // endpoint name; unused for http
  std::string target_variant;          // "" = as the endpoint routes
  std::string url;                     // http only: full URL of the route
  std::size_t connections = 1;         // most connections at once; more requests wait inside the pool
  std::optional<base::Limits> limits;  // what is compared with these; nullopt: this process's own
  base::Duration connect_timeout = std::chrono::seconds{5};
  base::Duration close_patience = std::chrono::seconds{3};  // of the destructor
};

class Invoker {
 public:
  // Errors: kInvalidArgument (a URL that is none), kRefused (real keys over plain http), kUnauthenticated,
  // kResourceExhausted (fewer file descriptors allowed than connections asked; Runtime::start raises the soft
  // limit).
  static base::Result<std::unique_ptr<Invoker>> make(Runtime& runtime, const Settings& settings,
                                                     std::shared_ptr<Credentials> credentials,
                                                     InvokerOptions options);
  // Waits until every request has ended (cancel them first) and every connection is closed, each for
  // close_patience at most: a caller has an endpoint to put back. What is left then stays until the process
  // ends; its callbacks may still come.
  virtual ~Invoker() = default;

  virtual std::uint64_t start(InvokeRequest request, InvokeEvents events) = 0;
  virtual void cancel(std::uint64_t id) = 0;  // ends as kAborted, unless it ended already
  // Work for the first loop thread: with one loop, the one that all callbacks but early ends run on. Dropped
  // if the runtime stops before.
  virtual void post(std::function<void()> work) = 0;
  virtual void at(base::SteadyTime when, std::function<void()> work) = 0;
  virtual bool here() const = 0;  // on that thread
  // Opens connections until `count` stand open and idle; blocks. The error of the first that failed.
  virtual base::Result<void> warm(std::size_t count, base::Deadline deadline) = 0;
};

}  // namespace headroom::aws
