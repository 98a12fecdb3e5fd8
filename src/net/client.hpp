// HTTP/1.1 client for instances on this machine: kept connections, streamed answers, cancellation, on Beast.
//
// Plain http only; tts-bench talks to AWS through src/aws instead. Callbacks run on a loop thread, in order:
// on_headers once, on_data any number of times, on_end exactly once. Thread safety: any thread.
// Errors in on_end: kUnavailable (cannot connect), kTimeout, kIo (connection broke; a chunked or sized body
// that ends early is an error, never a short success), kCancelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/http.hpp"
#include "net/loop.hpp"

namespace headroom::net {

struct ClientRequest {
  std::string host = "127.0.0.1";  // an address literal
  std::uint16_t port = 0;
  std::string method = "GET";
  std::string target = "/";
  Headers headers;
  std::string body;
  std::chrono::nanoseconds connect_timeout = std::chrono::seconds{2};
  std::chrono::nanoseconds answer_timeout =
      std::chrono::seconds{60};  // to the first header, and between reads
};

struct ClientEvents {
  std::function<void(int status, const Headers&)> on_headers;
  std::function<void(std::string_view)> on_data;
  std::function<void(std::optional<base::Error>)> on_end;
};

class Call {
 public:
  virtual ~Call() = default;
  virtual void cancel() = 0;
  virtual void pause() = 0;  // stop reading after what is being delivered; back pressure for a proxy
  virtual void resume() = 0;
};

class Client {
 public:
  explicit Client(Loop& loop);
  ~Client();
  std::shared_ptr<Call> start(ClientRequest request, ClientEvents events);
  // Blocks the caller (never call it on a loop thread) until the whole answer is there.
  base::Result<Response> fetch(ClientRequest request);
  void forget(std::uint16_t port);  // drop kept connections to that port (the instance is gone)

  struct Impl;  // of client.cpp

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace headroom::net
