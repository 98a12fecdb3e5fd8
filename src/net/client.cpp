// One coroutine per call: take or open a connection, send, stream the answer, give the connection back.
#include "net/client.hpp"

#include <atomic>
#include <future>
#include <map>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "base/names.hpp"
#include "net/loop_impl.hpp"

namespace headroom::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kMaxKept = 1024;
constexpr std::size_t kReadBytes = 64U << 10U;

base::Error to_error(const boost::system::error_code& error, const ClientRequest& request, bool connecting) {
  const auto where = fmt::format("{} http://{}:{}{}", request.method, base::host_in_url(request.host),
                                 request.port, request.target);
  if (error == beast::error::timeout)
    return {base::ErrorCode::kTimeout, where + " did not answer in time", {}};
  if (error == asio::error::operation_aborted)
    return {base::ErrorCode::kCancelled, where + " was cancelled", {}};
  if (connecting)
    return {base::ErrorCode::kUnavailable, fmt::format("{}: cannot connect: {}", where, error.message()), {}};
  return {base::ErrorCode::kIo, fmt::format("{} broke off: {}", where, error.message()), {}};
}

}  // namespace

struct Client::Impl {
  explicit Impl(Loop& loop) : context(loop.impl().context) {}
  asio::io_context& context;
  std::mutex mutex;
  std::map<std::uint16_t, std::vector<std::unique_ptr<beast::tcp_stream>>> kept;  // guarded by mutex

  std::unique_ptr<beast::tcp_stream> take(std::uint16_t port) {
    std::lock_guard lock(mutex);
    auto& streams = kept[port];
    if (streams.empty()) return nullptr;
    auto stream = std::move(streams.back());
    streams.pop_back();
    return stream;
  }
  void give(std::uint16_t port, std::unique_ptr<beast::tcp_stream> stream) {
    stream->expires_never();
    std::lock_guard lock(mutex);
    if (kept[port].size() < kMaxKept) kept[port].push_back(std::move(stream));
  }
};

namespace {

class CallImpl final : public Call, public std::enable_shared_from_this<CallImpl> {
 public:
  CallImpl(std::shared_ptr<Client::Impl> client, ClientRequest request, ClientEvents events)
      : client_(std::move(client)),
        request_(std::move(request)),
        events_(std::move(events)),
        stream_(client_->take(request_.port)),
        reused_(stream_ != nullptr),
        strand_(reused_ ? stream_->get_executor()
                        : asio::any_io_executor(asio::make_strand(client_->context))),
        resumed_(strand_) {}

  void start() {
    asio::co_spawn(
        strand_, [self = shared_from_this()]() { return self->run(); }, asio::detached);
  }
  void cancel() override {
    asio::post(strand_, [self = shared_from_this()] {
      self->cancelled_ = true;
      // Closed, not only cancelled: between two operations there is nothing to cancel, and the next would
      // wait.
      if (self->stream_) self->stream_->close();
      self->resumed_.cancel();
    });
  }
  void pause() override { paused_ = true; }
  void resume() override {
    asio::post(strand_, [self = shared_from_this()] {
      self->paused_ = false;
      self->resumed_.cancel();
    });
  }

 private:
  using Parser = http::response_parser<http::buffer_body>;

  asio::awaitable<void> run() {
    std::optional<base::Error> error = co_await attempt();
    if (error && retry_ && !cancelled_) {
      stream_.reset();
      reused_ = false;
      error = co_await attempt();
    }
    stream_.reset();  // unless it was given back: closes the connection
    if (cancelled_) error = base::Error{base::ErrorCode::kCancelled, "the call was cancelled", {}};
    if (events_.on_end) events_.on_end(std::move(error));
    events_ = {};
  }

  // retry_ is set when a kept connection turned out to be closed before any byte of an answer came.
  asio::awaitable<std::optional<base::Error>> attempt() {
    retry_ = false;
    if (cancelled_) co_return to_error(asio::error::operation_aborted, request_, true);
    if (!stream_) {
      stream_ = std::make_unique<beast::tcp_stream>(strand_);
      boost::system::error_code bad;
      const tcp::endpoint endpoint(asio::ip::make_address(request_.host, bad), request_.port);
      if (bad) co_return to_error(bad, request_, true);
      stream_->expires_after(request_.connect_timeout);
      auto [error] = co_await stream_->async_connect(endpoint, kNoThrow);
      if (error) co_return to_error(error, request_, true);
      boost::system::error_code ignored;
      stream_->socket().set_option(tcp::no_delay(true), ignored);
    }
    if (auto error = co_await send(); error) {
      retry_ = reused_ && !cancelled_;
      co_return to_error(*error, request_, false);
    }
    Parser parser;
    parser.body_limit(boost::none);
    parser.skip(request_.method == "HEAD");  // its Content-Length is of what a GET would bring
    beast::flat_buffer buffer;
    buffer.reserve(kReadBytes);  // else Beast reads 512 bytes at a time
    stream_->expires_after(request_.answer_timeout);
    auto [error, bytes] = co_await http::async_read_header(*stream_, buffer, parser, kNoThrow);
    if (error) {
      retry_ = reused_ && error != beast::error::timeout && buffer.size() == 0 && !cancelled_;
      co_return to_error(error, request_, false);
    }
    deliver_headers(parser);
    co_return co_await read_body(parser, buffer);
  }

  asio::awaitable<std::optional<boost::system::error_code>> send() {
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(request_.method);
    message.target(request_.target);
    message.set(http::field::host, fmt::format("{}:{}", base::host_in_url(request_.host), request_.port));
    for (const auto& [name, value] : request_.headers.rows()) message.insert(name, value);
    message.body() = request_.body;
    const bool asks_only = request_.method == "GET" || request_.method == "HEAD";
    if (!request_.body.empty() || !asks_only) message.content_length(request_.body.size());
    stream_->expires_after(request_.answer_timeout);
    auto [error, bytes] = co_await http::async_write(*stream_, message, kNoThrow);
    if (error) co_return error;
    co_return std::nullopt;
  }

  void deliver_headers(Parser& parser) {
    Headers headers;
    for (const auto& field : parser.get())
      headers.add(std::string(field.name_string()), std::string(field.value()));
    if (events_.on_headers) events_.on_headers(parser.get().result_int(), headers);
  }

  asio::awaitable<std::optional<base::Error>> read_body(Parser& parser, beast::flat_buffer& buffer) {
    std::string block(kReadBytes, '\0');
    while (!parser.is_done()) {
      while (paused_ && !cancelled_) {
        resumed_.expires_at(asio::steady_timer::time_point::max());
        co_await resumed_.async_wait(kNoThrow);
      }
      if (cancelled_) co_return to_error(asio::error::operation_aborted, request_, false);
      parser.get().body().data = block.data();
      parser.get().body().size = block.size();
      stream_->expires_after(request_.answer_timeout);
      auto [error, bytes] = co_await http::async_read_some(*stream_, buffer, parser, kNoThrow);
      const std::size_t got = block.size() - parser.get().body().size;
      if (got > 0 && events_.on_data) events_.on_data(std::string_view(block.data(), got));
      if (error && error != http::error::need_buffer) co_return to_error(error, request_, false);
    }
    if (parser.keep_alive() && !cancelled_) client_->give(request_.port, std::move(stream_));
    co_return std::nullopt;
  }

  std::shared_ptr<Client::Impl> client_;
  const ClientRequest request_;
  ClientEvents events_;
  std::unique_ptr<beast::tcp_stream> stream_;
  bool reused_;
  asio::any_io_executor
      strand_;  // the connection's own: the socket, its timer and this call never run at once
  asio::steady_timer resumed_;
  std::atomic<bool> paused_{false};
  bool cancelled_ = false;
  bool retry_ = false;
};

}  // namespace

Client::Client(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}
Client::~Client() = default;

std::shared_ptr<Call> Client::start(ClientRequest request, ClientEvents events) {
  auto call = std::make_shared<CallImpl>(impl_, std::move(request), std::move(events));
  call->start();
  return call;
}

base::Result<Response> Client::fetch(ClientRequest request) {
  struct Answer {
    Response response;
    std::promise<std::optional<base::Error>> end;
  };
  auto answer = std::make_shared<Answer>();
  auto future = answer->end.get_future();
  start(std::move(request),
        {[answer](int status, const Headers& headers) {
           answer->response.status = status;
           answer->response.headers = headers;
         },
         [answer](std::string_view data) { answer->response.body.append(data); },
         [answer](std::optional<base::Error> error) { answer->end.set_value(std::move(error)); }});
  if (auto error = future.get()) return tl::unexpected(*error);
  return std::move(answer->response);
}

void Client::forget(std::uint16_t port) {
  std::lock_guard lock(impl_->mutex);
  impl_->kept.erase(port);
}

}  // namespace headroom::net
