// Reads requests from one connection, hands them to the handler and writes the answers.
//
// The connection's coroutine owns the socket and runs on its strand; an Exchange only queues output and wakes
// the coroutine. While a request runs the socket is watched for the client's end, so that work can be
// dropped.
#include "net/server_connection.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/answer_bytes.hpp"
#include "net/outbox.hpp"
#include "net/request_reader.hpp"
#include "net/transport.hpp"
#include "net/ws_session.hpp"

namespace headroom::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr auto kTlsTimeout = std::chrono::seconds(10);
constexpr auto kGoodByeTime = std::chrono::seconds(2);
constexpr auto kGlanceEvery = std::chrono::milliseconds(500);
constexpr std::size_t kWriteBytes = 64U
                                    << 10U;  // enough for a write; what is ready beyond it waits for the next
constexpr std::size_t kLingerBytes =
    4U << 20U;  // read and dropped after a refusal, so that it reaches the client

// What is written leaves at once. And the kernel, which would take megabytes of an answer and call a socket
// writable again only when a third of them has gone, keeps no more than this besides what is on its way: else
// a client that reads at the pace of playback seems to take nothing for minutes, and pings reach it as late.
// Half of it gone makes the socket writable (tcp(7), TCP_NOTSENT_LOWAT).
constexpr int kKernelUnsentBytes = 32 << 10;
void set_options(asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;  // a client that is gone already shows when its request is read
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  (void)::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kKernelUnsentBytes,
                     sizeof kKernelUnsentBytes);
}

}  // namespace

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ServerState> state, asio::ip::tcp::socket socket)
      : state_(std::move(state)),
        stream_(std::move(socket)),
        wake_(stream_.get_executor()),
        glance_(stream_.get_executor()),
        reader_(stream_, state_->options) {
    wake_.expires_at(asio::steady_timer::time_point::max());
  }

  asio::awaitable<void> run();
  void end();  // after run(), also when it threw
  void wake() {
    asio::post(wake_.get_executor(), [self = shared_from_this()] {
      self->count_rest_of_stream();
      self->wake_.cancel();
    });
  }
  void close(bool idle_only) {
    asio::post(wake_.get_executor(), [self = shared_from_this(), idle_only] {
      if (self->websocket_) {  // whoever accepted it says when it is idle
        if (!idle_only) self->websocket_->cut();
        return;
      }
      if (!idle_only || !self->busy_) self->tcp().close();
      self->wake_.cancel();
    });
  }

 private:
  beast::tcp_stream& tcp() { return stream_.next_layer(); }
  asio::awaitable<bool> shake_hands();
  asio::awaitable<void> become_websocket(Outbox::Upgrade upgrade, const Request& request);
  asio::awaitable<bool> answer(const std::shared_ptr<Outbox>& outbox, const Request& request,
                               bool keep_alive);
  asio::awaitable<bool> write_whole(Response response, const Request& request, bool keep_alive);
  std::string begin_stream(int status, Headers headers, const Request& request, bool keep_alive);
  asio::awaitable<bool> write_all(std::string_view bytes);
  asio::awaitable<void> refuse_early(int status, const Request& seen);
  void call_handler(const std::shared_ptr<Outbox>& outbox, std::shared_ptr<const Request> request);
  std::shared_ptr<void> count_unsent(std::size_t bytes);
  void count_rest_of_stream();
  void cut_answer(std::weak_ptr<void> unsent);
  void reset_when_closed(bool reset);
  asio::awaitable<void> end_bare();
  asio::awaitable<void> say_no_more();
  void watch(std::shared_ptr<Outbox> outbox);
  void look_at_peer(std::shared_ptr<Outbox> outbox);

  std::shared_ptr<ServerState> state_;
  Transport stream_;
  std::shared_ptr<WsSession> websocket_;  // once upgraded; it has taken the stream
  asio::steady_timer wake_;
  asio::steady_timer glance_;      // while a request runs and its client's bytes lie unread
  std::weak_ptr<Outbox> running_;  // of the request that is counted in state_->active
  std::shared_ptr<void> unsent_;   // what is left of its stream, once that is finished
  bool counted_ = false;
  RequestReader reader_;
  bool busy_ = false;
  bool watching_ = false;
  bool bare_ = false;        // the body ends with the connection (HTTP/1.0)
  bool unfinished_ = false;  // and has not ended well
};

// Looks at the socket when it becomes readable.
void Connection::watch(std::shared_ptr<Outbox> outbox) {
  watching_ = true;
  tcp().socket().async_wait(asio::ip::tcp::socket::wait_read,
                            [self = shared_from_this(), outbox](const boost::system::error_code& error) {
                              self->watching_ = false;
                              if (!error) self->look_at_peer(outbox);
                            });
}

// The end of the client's side means that it is gone. Bytes before it are its next request, sent early, or
// TLS's good-bye, and none of our business yet; while they lie there the socket stays readable, so the end
// behind them is looked for from time to time.
void Connection::look_at_peer(std::shared_ptr<Outbox> outbox) {
  if (!counted_ || running_.lock() != outbox) return;  // answered meanwhile
  pollfd peer{tcp().socket().native_handle(), POLLIN | POLLRDHUP, 0};
  if (::poll(&peer, 1, 0) <= 0) return watch(std::move(outbox));
  if ((peer.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
    outbox->mark_gone();
    wake_.cancel();
    return;
  }
  glance_.expires_after(kGlanceEvery);
  glance_.async_wait([self = shared_from_this(), outbox](const boost::system::error_code& error) {
    if (!error) self->look_at_peer(outbox);
  });
}

asio::awaitable<void> Connection::refuse_early(int status, const Request& seen) {
  Response response{status, {}, {}};
  if (state_->options.early_answer) response = state_->options.early_answer(status, seen);
  co_await write_whole(std::move(response), seen, false);
  co_await say_no_more();
}

// What the client still sends is read and dropped: bytes that lie unread at the close would turn it into a
// reset, and that may overtake the answer.
asio::awaitable<void> Connection::say_no_more() {
  boost::system::error_code ignored;
  tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  tcp().expires_after(kGoodByeTime);
  std::vector<char> sink(64U << 10U);
  for (std::size_t read = 0; read < kLingerBytes;) {
    auto [error, got] = co_await stream_.async_read_some(asio::buffer(sink), kNoThrow);
    if (error) break;
    read += got;
  }
}

asio::awaitable<bool> Connection::write_whole(Response response, const Request& request, bool keep_alive) {
  http::response<http::string_body> message{static_cast<http::status>(response.status), 11};
  message.set(http::field::server, state_->options.server_name);
  if (state_->options.decorate) state_->options.decorate(request, response.headers);
  for (const auto& [name, value] : response.headers.rows()) message.insert(name, value);
  message.set("x-request-id", request.id);
  message.keep_alive(keep_alive);
  if (keep_alive && request.http_1_0) message.set(http::field::connection, "keep-alive");
  const std::size_t size = response.body.size();
  if (request.method != "HEAD") message.body() = std::move(response.body);
  if (response.status != 204) message.content_length(size);  // RFC 9110 section 8.6
  const auto unsent = count_unsent(message.body().size());
  http::response_serializer<http::string_body> serializer{message};
  while (!serializer.is_done()) {
    tcp().expires_after(state_->options.write_timeout);  // for each piece: a slow client may take long
    auto [error, sent] = co_await http::async_write_some(stream_, serializer, kNoThrow);
    if (error) co_return false;
  }
  co_return true;
}

// Counts an answer as long as what is returned lives.
std::shared_ptr<void> Connection::count_unsent(std::size_t bytes) {
  auto counted = std::make_shared<std::optional<UnsentAnswers::Hold>>();
  counted->emplace(state_->options.unsent_answers->hold(
      bytes, [weak = weak_from_this(), unsent = std::weak_ptr<void>(counted)] {
        if (const auto self = weak.lock()) self->cut_answer(unsent);
      }));
  return counted;
}

// Up to its end a stream's maker waits for the client; what is queued then lies here until the client takes
// it, and that may happen while the connection waits in a write.
void Connection::count_rest_of_stream() {
  const auto outbox = running_.lock();
  if (!counted_ || unsent_ || !outbox || !outbox->ended()) return;
  if (const auto rest = outbox->buffered_bytes(); rest > 0) unsent_ = count_unsent(rest);
}

// A reset, so that the kernel keeps nothing of it either. If the answer went out meanwhile, nothing is left
// to cut, and the connection may be serving the next request.
void Connection::cut_answer(std::weak_ptr<void> unsent) {
  asio::post(wake_.get_executor(), [self = shared_from_this(), unsent = std::move(unsent)] {
    if (unsent.expired()) return;
    self->reset_when_closed(true);
    self->tcp().close();
  });
}

std::string Connection::begin_stream(int status, Headers headers, const Request& request, bool keep_alive) {
  if (state_->options.decorate) state_->options.decorate(request, headers);
  bare_ = unfinished_ = request.http_1_0;
  if (bare_) reset_when_closed(true);
  return head_bytes(status, headers, {state_->options.server_name, request.id, keep_alive && !bare_, !bare_});
}

// Every bit of progress renews the timeout.
asio::awaitable<bool> Connection::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    tcp().expires_after(state_->options.write_timeout);
    auto [error, sent] = co_await stream_.async_write_some(asio::buffer(bytes), kNoThrow);
    if (error) co_return false;
    bytes.remove_prefix(sent);
  }
  co_return true;
}

// Nobody asks how a bare body ended but by how its connection ends, whoever ends it.
void Connection::reset_when_closed(bool reset) {
  boost::system::error_code ignored;
  tcp().socket().set_option(asio::socket_base::linger(reset, 0), ignored);
}

asio::awaitable<void> Connection::end_bare() {
  unfinished_ = false;
  reset_when_closed(false);
  if (stream_.tls() != nullptr) {  // without its good-bye a TLS client takes the end for an attack
    tcp().expires_after(kGoodByeTime);
    co_await stream_.tls()->async_shutdown(kNoThrow);
  }
}

// What lies ready leaves in one write: head and first chunk, last chunk and end.
asio::awaitable<bool> Connection::answer(const std::shared_ptr<Outbox>& outbox, const Request& request,
                                         bool keep_alive) {
  std::string ready;
  std::size_t of_chunks = 0;
  for (;;) {
    Outbox::Output out = outbox->take();
    if (out.whole) co_return co_await write_whole(std::move(*out.whole), request, keep_alive);
    if (out.head) {
      ready += begin_stream(out.head->first, std::move(out.head->second), request, keep_alive);
    } else if (!out.chunk.empty()) {
      of_chunks += out.chunk.size();
      bare_ ? void(ready += out.chunk) : append_chunk(ready, out.chunk);
    } else if (out.finished && !out.broken && !bare_) {
      ready += kLastChunk;
    }
    const bool more = out.head || !out.chunk.empty();
    if (more && ready.size() < kWriteBytes) continue;
    if (!ready.empty()) {
      if (!co_await write_all(ready)) co_return false;
      outbox->sent(std::exchange(of_chunks, 0));
      ready.clear();
    }
    if (out.broken) co_return false;
    if (out.finished) {
      // Its own statement: GCC 12 runs a co_await on the right of || or && even where the left one decides.
      if (bare_) co_await end_bare();
      co_return true;
    }
    if (more) continue;
    if (!tcp().socket().is_open()) co_return false;
    tcp().expires_never();
    wake_.expires_at(asio::steady_timer::time_point::max());
    // wake() is posted to this strand, so it cannot slip in between the look and the wait.
    if (outbox->empty()) co_await wake_.async_wait(kNoThrow);
  }
}

// An exception of the handler is an answer like any other: the client must not wait for ever.
void Connection::call_handler(const std::shared_ptr<Outbox>& outbox, std::shared_ptr<const Request> request) {
  try {
    state_->handler(make_exchange(outbox, std::move(request), [self = shared_from_this()] { self->wake(); }));
  } catch (...) {
    outbox->respond({500,
                     {{"content-type", "application/json"}},
                     R"({"error":{"code":"internal","message":"the request could not be handled"}})"});
    if (!outbox->ended()) outbox->abort();  // it threw in the middle of a stream
  }
}

asio::awaitable<bool> Connection::shake_hands() {
  auto& tls = stream_.use_tls(*state_->tls);
  tcp().expires_after(kTlsTimeout);
  auto [error] = co_await tls.async_handshake(asio::ssl::stream_base::server, kNoThrow);
  co_return !error;
}

asio::awaitable<void> Connection::become_websocket(Outbox::Upgrade upgrade, const Request& request) {
  // Nobody may speak before the handshake is answered (RFC 6455 section 4.1); and a request that is none is
  // a handler's mistake.
  if (reader_.ahead() || !wants_websocket(request)) co_return;
  websocket_ = std::make_shared<WsSession>(std::move(stream_), upgrade.limits);
  co_await websocket_->serve(request, state_->options.server_name, upgrade.opened(websocket_));
}

asio::awaitable<void> Connection::run() {
  set_options(tcp().socket());
  if (state_->tls) {
    if (!co_await shake_hands()) co_return;
  }
  while (!state_->closing) {
    busy_ = false;
    if (!state_->accepting && !reader_.ahead()) break;
    if (!co_await reader_.wait()) break;
    busy_ = true;
    RequestReader::Outcome read = co_await reader_.read(shared_from_this());
    if (read.refusal) co_await refuse_early(*read.refusal, read.seen);
    if (!read.request) break;
    auto shared = std::make_shared<const Request>(std::move(*read.request));
    auto outbox = std::make_shared<Outbox>();
    ++state_->active;
    counted_ = true;
    running_ = outbox;
    call_handler(outbox, shared);
    if (auto upgrade = outbox->take_upgrade())
      co_return co_await become_websocket(std::move(*upgrade), *shared);
    watch(outbox);
    const bool keep_alive = read.keep_alive && state_->accepting;
    const bool clean = co_await answer(outbox, *shared, keep_alive);
    unsent_.reset();
    if (!clean) {
      outbox->mark_gone();
      break;
    }
    outbox->close();
    glance_.cancel();
    counted_ = false;
    --state_->active;
    if (watching_) tcp().socket().cancel();
    if (bare_) co_await say_no_more();
    if (!keep_alive || bare_) break;
  }
}

void Connection::end() {
  glance_.cancel();
  unsent_.reset();
  if (std::exchange(counted_, false)) {
    if (const auto outbox = running_.lock()) outbox->mark_gone();
    --state_->active;
  }
  if (!websocket_) {
    boost::system::error_code ignored;
    if (!unfinished_) tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    tcp().close();
  }
  std::lock_guard lock(state_->mutex);
  state_->connections.erase(shared_from_this());
}

void serve_connection(std::shared_ptr<ServerState> state, asio::ip::tcp::socket socket) {
  auto executor = socket.get_executor();
  auto connection = std::make_shared<Connection>(state, std::move(socket));
  {
    std::lock_guard lock(state->mutex);
    if (state->closing) return;  // accepted as the server went: nobody would take it out of the set again
    state->connections.insert(connection);
  }
  asio::co_spawn(
      executor, [connection]() { return connection->run(); },
      [connection](const std::exception_ptr&) { connection->end(); });
}

void close_connection(const std::shared_ptr<Connection>& connection, bool idle_only) {
  connection->close(idle_only);
}

}  // namespace headroom::net
