// One request through signing, connection and stream. See exchange.hpp.
#include "aws/exchange.hpp"

#include <aws/http/connection.h>
#include <aws/io/stream.h>

#include "aws/request_signer.hpp"

namespace headroom::aws {

std::shared_ptr<Exchange> Exchange::make(Runtime& runtime, Pool& pool, ExchangeRequest request,
                                         ExchangeEvents events) {
  return std::shared_ptr<Exchange>(new Exchange(runtime, pool, std::move(request), std::move(events)));
}

Exchange::Exchange(Runtime& runtime, Pool& pool, ExchangeRequest request, ExchangeEvents events)
    : runtime_(runtime.impl()), pool_(pool), request_(std::move(request)), events_(std::move(events)) {}

Exchange::~Exchange() {
  if (message_ != nullptr) aws_http_message_release(message_);
  if (body_ != nullptr) aws_input_stream_release(body_);
}

void Exchange::start() {
  std::weak_ptr<Exchange> weak = weak_from_this();
  {
    std::lock_guard lock(mutex_);
    timer_ = runtime_.timers->at(request_.give_up, [weak] {
      if (auto self = weak.lock()) self->interrupt(ExchangeEnd::kTimedOut);
    });
  }
  if (!build_message()) return finish(ExchangeEnd::kFailed, aws_last_error());
  if (request_.signing_service.empty()) return acquire();
  sign();
}

void Exchange::cancel() { interrupt(ExchangeEnd::kCancelled); }

bool Exchange::build_message() {
  message_ = aws_http_message_new_request(runtime_.allocator);
  const auto add = [this](std::string_view name, std::string_view value) {
    aws_http_header header{};
    header.name = cursor(name);
    header.value = cursor(value);
    return aws_http_message_add_header(message_, header) == AWS_OP_SUCCESS;
  };
  const std::string path = pool_.endpoint().path + request_.path;
  bool good = aws_http_message_set_request_method(message_, cursor(request_.method)) == AWS_OP_SUCCESS &&
              aws_http_message_set_request_path(message_, cursor(path)) == AWS_OP_SUCCESS &&
              add("Host", pool_.endpoint().host_header());
  for (const auto& [name, value] : request_.headers) good = good && add(name, value);
  good = good && add("Content-Length", std::to_string(request_.body.size()));
  const aws_byte_cursor bytes = cursor(request_.body);
  body_ = aws_input_stream_new_from_cursor(runtime_.allocator, &bytes);
  aws_http_message_set_body_stream(message_, body_);
  return good;
}

void Exchange::sign() {
  RequestSignature how;
  how.region = request_.signing_region;
  how.service = request_.signing_service;
  how.provider = request_.provider;
  sign_request(runtime_.allocator, message_, how,
               [self = shared_from_this()](const std::string& signature, int error) {
                 signature.empty() ? self->finish(ExchangeEnd::kFailed, error) : self->acquire();
               });
}

void Exchange::acquire() {
  const std::shared_ptr<Exchange> keep = shared_from_this();
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    self_ = keep;
  }
  aws_http_connection_manager_acquire_connection(
      pool_.manager(),
      [](aws_http_connection* connection, int error, void* self) {
        static_cast<Exchange*>(self)->on_connection(connection, error);
      },
      this);
}

void Exchange::on_connection(aws_http_connection* connection, int error) {
  std::shared_ptr<Exchange> self;
  bool ended = false;
  {
    std::lock_guard lock(mutex_);
    self = self_;
    ended = ended_;
    if (connection == nullptr || ended) self_.reset();
  }
  if (connection == nullptr) return finish(ExchangeEnd::kFailed, error);
  if (ended) {  // we stopped waiting for it; the next one takes it
    aws_http_connection_manager_release_connection(pool_.manager(), connection);
    return;
  }
  send(connection);
}

void Exchange::send(aws_http_connection* connection) {
  aws_http_make_request_options options{};
  options.self_size = sizeof(options);
  options.request = message_;
  options.user_data = this;
  options.on_response_headers = headers_callback;
  options.on_response_header_block_done = head_done_callback;
  options.on_response_body = body_callback;
  options.on_complete = complete_callback;
  aws_http_stream* stream = aws_http_connection_make_request(connection, &options);
  if (stream == nullptr) {
    const int error = aws_last_error();
    std::shared_ptr<Exchange> self;
    {
      std::lock_guard lock(mutex_);
      self = std::move(self_);
    }
    aws_http_connection_manager_release_connection(pool_.manager(), connection);
    return finish(ExchangeEnd::kFailed, error);
  }
  bool interrupted = false;
  {
    std::lock_guard lock(mutex_);
    interrupted = ended_;
    if (!interrupted) {
      connection_ = connection;
      stream_ = stream;
    }
  }
  if (interrupted) {  // timed out or cancelled a moment ago
    std::shared_ptr<Exchange> self;
    {
      std::lock_guard lock(mutex_);
      self = std::move(self_);
    }
    aws_http_stream_release(stream);  // never activated, so it never calls back
    aws_http_connection_manager_release_connection(pool_.manager(), connection);
    return;
  }
  if (events_.on_connected) events_.on_connected();
  aws_http_stream_acquire(stream);
  if (aws_http_stream_activate(stream) != AWS_OP_SUCCESS) {
    on_stream_complete(aws_last_error());
  } else {
    std::unique_lock lock(mutex_);
    const bool missed = wanted_ != ExchangeEnd::kComplete;
    lock.unlock();
    // A stream that is not active yet ignores a cancel.
    if (missed) aws_http_stream_cancel(stream, AWS_ERROR_HTTP_STREAM_CANCELLED);
  }
  aws_http_stream_release(stream);
}

void Exchange::interrupt(ExchangeEnd why) {
  aws_http_stream* stream = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    if (wanted_ == ExchangeEnd::kComplete) wanted_ = why;
    if (stream_ != nullptr) stream = aws_http_stream_acquire(stream_);
  }
  if (stream == nullptr) return finish(why, 0);  // still signing or waiting for a connection
  aws_http_stream_cancel(stream, AWS_ERROR_HTTP_STREAM_CANCELLED);
  aws_http_stream_release(stream);
}

void Exchange::on_stream_complete(int error) {
  std::shared_ptr<Exchange> self;
  aws_http_connection* connection = nullptr;
  aws_http_stream* stream = nullptr;
  ExchangeEnd wanted;
  {
    std::lock_guard lock(mutex_);
    self = std::move(self_);
    connection = std::exchange(connection_, nullptr);
    stream = std::exchange(stream_, nullptr);
    wanted = wanted_;
  }
  if (stream != nullptr) aws_http_stream_release(stream);
  // Given back first: whoever on_end starts next finds it free.
  if (connection != nullptr) aws_http_connection_manager_release_connection(pool_.manager(), connection);
  if (error == 0) return finish(ExchangeEnd::kComplete, 0);
  finish(wanted == ExchangeEnd::kComplete ? ExchangeEnd::kFailed : wanted, error);
}

void Exchange::finish(ExchangeEnd end, int error) {
  std::uint64_t timer = 0;
  {
    std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    timer = timer_;
  }
  runtime_.timers->cancel(timer);
  if (events_.on_end) events_.on_end(end, error);
}

int Exchange::headers_callback(aws_http_stream*, aws_http_header_block block, const aws_http_header* headers,
                               std::size_t count, void* user_data) {
  Exchange& self = *static_cast<Exchange*>(user_data);
  if (block != AWS_HTTP_HEADER_BLOCK_MAIN || !self.events_.on_header) return AWS_OP_SUCCESS;
  for (std::size_t i = 0; i < count; ++i)
    self.events_.on_header(view(headers[i].name), view(headers[i].value));
  return AWS_OP_SUCCESS;
}

int Exchange::head_done_callback(aws_http_stream* stream, aws_http_header_block block, void* user_data) {
  Exchange& self = *static_cast<Exchange*>(user_data);
  if (block != AWS_HTTP_HEADER_BLOCK_MAIN) return AWS_OP_SUCCESS;
  int status = 0;
  aws_http_stream_get_incoming_response_status(stream, &status);
  if (self.events_.on_head) self.events_.on_head(status);
  return AWS_OP_SUCCESS;
}

int Exchange::body_callback(aws_http_stream*, const aws_byte_cursor* data, void* user_data) {
  Exchange& self = *static_cast<Exchange*>(user_data);
  if (!self.events_.on_body) return AWS_OP_SUCCESS;
  const int error = self.events_.on_body(view(*data));
  return error == 0 ? AWS_OP_SUCCESS : aws_raise_error(error);
}

void Exchange::complete_callback(aws_http_stream*, int error, void* user_data) {
  static_cast<Exchange*>(user_data)->on_stream_complete(error);
}

}  // namespace headroom::aws
