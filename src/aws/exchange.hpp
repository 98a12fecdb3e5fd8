// Internal to src/aws: one HTTP/1.1 request and its answer: signed if asked, sent on a kept connection,
// timed, cancellable.
//
// start() returns at once. Callbacks run on a loop thread (on_end may run inside start(), or on the timer's
// thread, if no stream was made yet), in order, on_end exactly once; they must not block or throw. Thread
// safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aws/http/request_response.h>

#include "aws/crt.hpp"
#include "aws/pool.hpp"
#include "base/clock.hpp"

namespace headroom::aws {

struct ExchangeRequest {
  std::string method = "POST";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers;  // Host and Content-Length are added
  std::string body;
  std::string signing_service;  // "" = not signed
  std::string signing_region;
  aws_credentials_provider* provider = nullptr;
  base::SteadyTime give_up{};
};

enum class ExchangeEnd { kComplete, kFailed, kTimedOut, kCancelled };

struct ExchangeEvents {
  std::function<void()> on_connected;
  std::function<void(std::string_view name, std::string_view value)> on_header;
  std::function<void(int status)> on_head;  // all headers are there
  // Returns 0, or a Common Runtime error that ends the exchange.
  std::function<int(std::string_view bytes)> on_body;
  std::function<void(ExchangeEnd end, int error)> on_end;
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  static std::shared_ptr<Exchange> make(Runtime& runtime, Pool& pool, ExchangeRequest request,
                                        ExchangeEvents events);
  ~Exchange();
  void start();
  void cancel();

 private:
  Exchange(Runtime& runtime, Pool& pool, ExchangeRequest request, ExchangeEvents events);
  bool build_message();
  void sign();
  void acquire();
  void on_connection(aws_http_connection* connection, int error);
  void send(aws_http_connection* connection);
  void interrupt(ExchangeEnd why);
  void on_stream_complete(int error);
  void finish(ExchangeEnd end, int error);

  static int headers_callback(aws_http_stream*, aws_http_header_block, const aws_http_header*, std::size_t,
                              void*);
  static int head_done_callback(aws_http_stream*, aws_http_header_block, void*);
  static int body_callback(aws_http_stream*, const aws_byte_cursor*, void*);
  static void complete_callback(aws_http_stream*, int error, void*);

  Runtime::Impl& runtime_;
  Pool& pool_;
  const ExchangeRequest request_;
  ExchangeEvents events_;
  aws_http_message* message_ = nullptr;
  aws_input_stream* body_ = nullptr;

  std::mutex mutex_;  // guards all below
  std::uint64_t timer_ = 0;
  aws_http_connection* connection_ = nullptr;
  aws_http_stream* stream_ = nullptr;
  bool ended_ = false;
  ExchangeEnd wanted_ = ExchangeEnd::kComplete;  // why we interrupted it, if we did
  std::shared_ptr<Exchange> self_;               // keeps it alive while the Common Runtime may call back
};

}  // namespace headroom::aws
