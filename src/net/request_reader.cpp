// Reads with Beast's parser; the limits of time are its own.
#include "net/request_reader.hpp"

#include <algorithm>
#include <random>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

namespace headroom::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr auto kTimeoutGrace = std::chrono::seconds(2);
// What is read and not yet understood: a header, a chunk's extensions or the trailers (the body leaves it as
// it comes).
constexpr std::size_t kBufferBytes = 64U << 10U;

std::string new_request_id() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id(16, '0');
  for (std::uint64_t bits = random(); char& c : id) {
    c = kHex[bits & 15U];
    bits >>= 4U;
  }
  return id;
}

bool sane_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string_view::npos;
}

template <class Message>
Request to_request(Message& message) {
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  set_path(request);
  const auto given = request.headers.get("x-request-id");
  request.id = sane_request_id(given) ? std::string(given) : new_request_id();
  request.http_1_0 = message.version() < 11;
  return request;
}

}  // namespace

RequestReader::RequestReader(Transport& transport, const ServerOptions& options)
    : transport_(transport),
      options_(options),
      patience_(transport.get_executor()),
      buffer_(std::max(kBufferBytes, 2 * options.max_header_bytes)) {}

// Beast's own timeout closes the socket, and then no answer reaches the client any more; this one only ends
// the reading.
void RequestReader::lose_patience_after(std::chrono::milliseconds limit, std::shared_ptr<void> owner) {
  too_slow_ = false;
  patience_.expires_after(limit);
  patience_.async_wait(
      [this, owner = std::move(owner), round = ++patience_round_](const boost::system::error_code& error) {
        if (error || round != patience_round_) return;
        too_slow_ = true;
        transport_.next_layer().cancel();
      });
}

std::optional<int> RequestReader::refusal_of(const boost::system::error_code& error) const {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == asio::error::operation_aborted && too_slow_) return 408;
  if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  if (error.category() == http::make_error_code(http::error::bad_method).category()) return 400;
  return std::nullopt;
}

asio::awaitable<bool> RequestReader::wait() {
  if (ahead()) co_return true;
  transport_.next_layer().expires_after(options_.idle_timeout);
  auto [error, got] = co_await transport_.async_read_some(buffer_.prepare(4096), kNoThrow);
  if (error) co_return false;
  buffer_.commit(got);
  co_return true;
}

asio::awaitable<RequestReader::Outcome> RequestReader::read(std::shared_ptr<void> owner) {
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser.body_limit(options_.max_body_bytes);
  lose_patience_after(options_.request_timeout, std::move(owner));
  // The cancellation can fall between two reads and be lost; then this closes the connection.
  transport_.next_layer().expires_after(options_.request_timeout + kTimeoutGrace);
  auto [header_error, header_bytes] = co_await http::async_read_header(transport_, buffer_, parser, kNoThrow);
  boost::system::error_code error = header_error;
  if (!error && parser.get().version() >= 11 && iequals(parser.get()[http::field::expect], "100-continue")) {
    const std::string go = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(transport_, asio::buffer(go), kNoThrow);
  }
  if (!error) {
    auto [body_error, body_bytes] = co_await http::async_read(transport_, buffer_, parser, kNoThrow);
    error = body_error;
  }
  ++patience_round_;
  patience_.cancel();
  Outcome outcome;
  Request request = to_request(parser.get());
  if (error) {
    outcome.refusal = refusal_of(error);
    outcome.seen = std::move(request);
    co_return outcome;
  }
  outcome.keep_alive = parser.get().keep_alive();
  outcome.request = std::move(request);
  outcome.request->body = std::move(parser.get().body());
  co_return outcome;
}

}  // namespace headroom::net
