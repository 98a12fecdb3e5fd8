// Reads messages, writes what is queued, watches for silence.
#include "net/ws_session.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <fmt/format.h>

#include "base/names.hpp"
#include "net/loop_impl.hpp"

namespace headroom::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr auto kHandshakeTimeout = std::chrono::seconds(10);
constexpr std::size_t kMaxReason =
    123;  // RFC 6455 section 5.5: a control frame holds 125 bytes, two are the code
constexpr std::size_t kShownBody = 300;

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    auto item = list.substr(0, comma);
    while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
    if (iequals(item, token)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

bool wants_websocket(const Request& request) {
  return !request.http_1_0 && request.method == "GET" &&
         has_token(request.headers.get("upgrade"), "websocket") &&
         has_token(request.headers.get("connection"), "upgrade") &&
         request.headers.get("sec-websocket-version") == "13" &&
         request.headers.get("sec-websocket-key").size() == 24;
}

WsSession::WsSession(Transport transport, const WsLimits& limits)
    : ws_(std::move(transport)),
      limits_(limits),
      wake_(ws_.get_executor()),
      resumed_(ws_.get_executor()),
      watch_(ws_.get_executor()) {}

void WsSession::set_options(bool server) {
  watch_peer(true);
  ws_.read_message_max(limits_.max_message_bytes);
  ws_.auto_fragment(false);
  if (!server) ws_.write_buffer_bytes(16U << 10U);  // where the mask is laid over the data
}

// Only what is read shows that the peer is alive: while nothing is read, nothing is expected of it. The next
// read starts the wait anew.
void WsSession::watch_peer(bool watch) {
  ws_.set_option(websocket::stream_base::timeout{
      kHandshakeTimeout, watch ? 2 * limits_.ping_after : websocket::stream_base::none(), true});
}

// A callback may hold the session that holds it. The end of the session frees them; if the loop ends before
// that, the end of the coroutine does.
struct WsSession::Forget {
  std::shared_ptr<WsSession> session;
  ~Forget() {
    const WsEvents events = std::exchange(session->events_, {});
    std::vector<std::pair<std::size_t, std::function<void()>>> drained;
    std::lock_guard lock(session->mutex_);
    drained.swap(session->queue_.drained);
  }
};

asio::awaitable<void> WsSession::serve(const Request& request, const std::string& server_name,
                                       WsEvents events) {
  const Forget forget{shared_from_this()};
  events_ = std::move(events);
  set_options(true);
  ws_.set_option(websocket::stream_base::decorator([&](websocket::response_type& response) {
    response.set(http::field::server, server_name);
    response.set("x-request-id", request.id);
  }));
  ws_.next_layer().next_layer().expires_never();
  http::request<http::empty_body> message{http::verb::get, request.target, 11};
  for (const auto& [name, value] : request.headers.rows()) message.insert(name, value);
  auto [error] = co_await ws_.async_accept(message, kNoThrow);
  if (error) co_return end(error);
  co_await run();
}

asio::awaitable<boost::system::error_code> WsSession::handshake(const WsRequest& request) {
  auto& tcp = ws_.next_layer().next_layer();
  const auto where =
      fmt::format("ws://{}:{}{}", base::host_in_url(request.host), request.port, request.target);
  boost::system::error_code bad;
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(request.host, bad), request.port);
  boost::system::error_code error = bad;
  tcp.expires_after(request.connect_timeout);
  if (!bad) {
    auto [refused] = co_await tcp.async_connect(endpoint, kNoThrow);
    error = refused;
  }
  if (error) {
    failure_ = {error == beast::error::timeout ? base::ErrorCode::kTimeout : base::ErrorCode::kUnavailable,
                fmt::format("{}: cannot connect: {}", where, error.message()),
                {}};
    co_return error;
  }
  tcp.expires_never();
  boost::system::error_code ignored;
  tcp.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  ws_.set_option(websocket::stream_base::timeout{
      std::chrono::duration_cast<std::chrono::milliseconds>(request.connect_timeout), 2 * limits_.ping_after,
      true});
  ws_.set_option(websocket::stream_base::decorator([&](websocket::request_type& message) {
    for (const auto& [name, value] : request.headers.rows()) message.set(name, value);
  }));
  websocket::response_type response;
  auto [declined] = co_await ws_.async_handshake(
      response, fmt::format("{}:{}", base::host_in_url(request.host), request.port), request.target,
      kNoThrow);
  if (declined == websocket::error::upgrade_declined) {
    failure_ = {base::ErrorCode::kRemote,
                fmt::format("{} declined the WebSocket: HTTP {} {}", where, response.result_int(),
                            response.body().substr(0, kShownBody)),
                std::to_string(response.result_int())};
  } else if (declined) {
    failure_ = {declined == beast::error::timeout ? base::ErrorCode::kTimeout : base::ErrorCode::kIo,
                fmt::format("{}: the handshake failed: {}", where, declined.message()),
                {}};
  }
  set_options(false);
  co_return declined;
}

asio::awaitable<void> WsSession::connect(WsRequest request, WsEvents events) {
  const Forget forget{shared_from_this()};
  events_ = std::move(events);
  set_options(false);
  const auto error = co_await handshake(request);
  if (error) co_return end(error);
  co_await run();
}

asio::awaitable<void> WsSession::run() {
  {
    std::lock_guard lock(mutex_);
    queue_.active = Clock::now();
  }
  asio::co_spawn(
      ws_.get_executor(), [self = shared_from_this()] { return self->write_loop(); }, asio::detached);
  asio::co_spawn(
      ws_.get_executor(), [self = shared_from_this()] { return self->watch_loop(); }, asio::detached);
  if (events_.on_open) events_.on_open();
  beast::flat_buffer buffer;
  for (;;) {
    co_await while_paused();
    auto [error, bytes] = co_await ws_.async_read(buffer, kNoThrow);
    if (error) co_return end(error);
    const auto data = buffer.cdata();
    if (!deliver(std::string(static_cast<const char*>(data.data()), data.size()), ws_.got_text()))
      close(1011, "internal error");
    buffer.clear();
  }
}

asio::awaitable<void> WsSession::while_paused() {
  if (!paused_ || cut_) co_return;
  watch_peer(false);
  while (paused_ && !cut_) {
    resumed_.expires_at(Clock::time_point::max());
    co_await resumed_.async_wait(kNoThrow);
  }
  watch_peer(true);
}

bool WsSession::deliver(std::string message, bool text) {
  {
    std::lock_guard lock(mutex_);
    queue_.active = Clock::now();
    if (queue_.closing) return true;  // what comes after our own close is not for anybody
  }
  try {
    if (events_.on_message) events_.on_message(std::move(message), text);
    return true;
  } catch (...) {
    return false;
  }
}

asio::awaitable<void> WsSession::write_loop() {
  for (;;) {
    std::optional<Message> message;
    std::optional<Closing> closing;
    {
      std::lock_guard lock(mutex_);
      if (queue_.ended) co_return;
      if (!queue_.messages.empty()) {
        message = std::move(queue_.messages.front());
        queue_.messages.pop_front();
      } else {
        closing = queue_.closing;
      }
    }
    if (message) {
      ws_.text(message->text);
      writing_since_ = Clock::now();
      auto [error, bytes] = co_await ws_.async_write(asio::buffer(message->data), kNoThrow);
      writing_since_.reset();
      if (error) co_return;  // the read loop meets the same fault and tells
      sent(message->data.size());
    } else if (closing) {
      websocket::close_reason reason(static_cast<websocket::close_code>(closing->code), closing->reason);
      co_await ws_.async_close(reason, kNoThrow);
      co_return;
    } else {
      wake_.expires_at(Clock::time_point::max());
      // wake() is posted to this strand, so it cannot slip in between the look and the wait.
      bool empty = false;
      {
        std::lock_guard lock(mutex_);
        empty = queue_.messages.empty() && !queue_.closing && !queue_.ended;
      }
      if (empty) co_await wake_.async_wait(kNoThrow);
    }
  }
}

asio::awaitable<void> WsSession::watch_loop() {
  const auto step = std::clamp<Clock::duration>(std::min(limits_.idle_limit, limits_.write_timeout) / 4,
                                                std::chrono::milliseconds(20), std::chrono::seconds(5));
  for (;;) {
    watch_.expires_after(step);
    co_await watch_.async_wait(kNoThrow);
    bool idle = false;
    {
      std::lock_guard lock(mutex_);
      if (queue_.ended) co_return;
      idle = !queue_.busy && !queue_.closing && Clock::now() - queue_.active >= limits_.idle_limit;
    }
    if (writing_since_ && Clock::now() - *writing_since_ >= limits_.write_timeout) {
      cut();
    } else if (idle) {
      close(1001, "nothing was said for a while");
    }
  }
}

void WsSession::send(std::string message, bool text) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.ended || queue_.closing) return;
    queue_.buffered += message.size();
    queue_.active = Clock::now();
    queue_.messages.push_back({std::move(message), text});
  }
  wake();
}

void WsSession::close(std::uint16_t code, std::string reason) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.ended || queue_.closing) return;
    reason.resize(std::min(reason.size(), kMaxReason));
    queue_.closing = Closing{code, std::move(reason)};
  }
  paused_ = false;  // the peer's close must be read
  wake();
}

void WsSession::wake() {
  asio::post(ws_.get_executor(), [self = shared_from_this()] {
    self->wake_.cancel();
    if (!self->paused_) self->resumed_.cancel();
  });
}

void WsSession::cut() {
  asio::post(ws_.get_executor(), [self = shared_from_this()] {
    self->cut_ = true;
    self->ws_.next_layer().next_layer().close();
    self->resumed_.cancel();
  });
}

void WsSession::pause() { paused_ = true; }

void WsSession::resume() {
  paused_ = false;
  wake();
}

std::size_t WsSession::buffered_bytes() const {
  std::lock_guard lock(mutex_);
  return queue_.buffered;
}

void WsSession::on_drained(std::size_t limit, std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!queue_.ended && queue_.buffered > limit) {
      queue_.drained.emplace_back(limit, std::move(callback));
      return;
    }
  }
  callback();
}

void WsSession::set_busy(bool busy) {
  std::lock_guard lock(mutex_);
  if (queue_.busy && !busy) queue_.active = Clock::now();
  queue_.busy = busy;
}

std::vector<std::function<void()>> WsSession::take_drained(Queue& queue) {
  std::vector<std::function<void()>> ready;
  std::erase_if(queue.drained, [&](auto& row) {
    if (!queue.ended && queue.buffered > row.first) return false;
    ready.push_back(std::move(row.second));
    return true;
  });
  return ready;
}

void WsSession::sent(std::size_t bytes) {
  std::vector<std::function<void()>> ready;
  {
    std::lock_guard lock(mutex_);
    queue_.buffered -= std::min(queue_.buffered, bytes);
    queue_.active = Clock::now();
    ready = take_drained(queue_);
  }
  for (auto& callback : ready) callback();
}

void WsSession::end(const boost::system::error_code& error) {
  WsEnd out;
  std::optional<Closing> ours;
  {
    std::lock_guard lock(mutex_);
    ours = queue_.closing;
  }
  if (failure_) {
    out.error = failure_;
  } else if (error == websocket::error::closed) {
    out.code = ws_.reason().code == 0 ? static_cast<std::uint16_t>(1005) : ws_.reason().code;
    out.reason = ws_.reason().reason.c_str();
  } else if (cut_) {
    out.error = {base::ErrorCode::kCancelled, "the WebSocket was cut", {}};
  } else if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
    out = {1009, "message too big", base::Error{base::ErrorCode::kInvalidData, error.message(), {}}};
  } else if (ours) {  // the handshake of our own close was left unfinished
    out.code = ours->code;
    out.reason = ours->reason;
  } else {
    out.error = {error == beast::error::timeout ? base::ErrorCode::kTimeout : base::ErrorCode::kIo,
                 "the WebSocket broke: " + error.message(),
                 {}};
  }
  finish(std::move(out));
}

void WsSession::finish(WsEnd end) {
  std::vector<std::function<void()>> ready;
  {
    std::lock_guard lock(mutex_);
    queue_.ended = true;
    queue_.messages.clear();
    queue_.buffered = 0;
    ready = take_drained(queue_);
  }
  wake_.cancel();
  watch_.cancel();
  for (auto& callback : ready) callback();
  WsEvents events = std::exchange(events_, {});  // they may hold the handle
  if (events.on_close) events.on_close(end);
}

std::shared_ptr<WebSocket> ws_connect(Loop& loop, WsRequest request, WsEvents events) {
  const auto strand = asio::make_strand(loop.impl().context);
  auto session = std::make_shared<WsSession>(Transport(Transport::executor_type(strand)), request.limits);
  asio::co_spawn(
      strand,
      [session, request = std::move(request), events = std::move(events)]() mutable {
        return session->connect(std::move(request), std::move(events));
      },
      asio::detached);
  return session;
}

}  // namespace headroom::net
