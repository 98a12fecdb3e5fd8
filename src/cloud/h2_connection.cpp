// Callbacks of libnghttp2, and TLS.
#include "cloud/h2_connection.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <openssl/err.h>
#include <poll.h>
#include <unistd.h>

#include "cloud/world.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kMaxHeaderBytes = 16U << 10U;
constexpr std::uint32_t kMaxStreams = 100;
constexpr std::int32_t kWindow = 1 << 20;
constexpr std::size_t kOutputAtOnce = 256U << 10U;
constexpr auto kMayIdle = std::chrono::seconds{30};

nghttp2_nv pair_of(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

bool of_http1(std::string_view name) {
  return name == "connection" || name == "keep-alive" || name == "transfer-encoding" || name == "upgrade" ||
         name == "proxy-connection";
}

}  // namespace

void H2StreamState::respond(net::Response response) {
  response.headers.set("content-length", fmt::format("{}", response.body.size()));
  begin(response.status, std::move(response.headers));
  write(std::move(response.body));
  finish();
}

void H2StreamState::begin(int status, net::Headers headers) {
  {
    std::lock_guard lock(mutex_);
    if (begun_ || ended_) return;
    begun_ = true;
  }
  post_([id = id_, status, headers = std::move(headers)](H2Connection& c) {
    c.submit_head(id, status, headers);
  });
}

void H2StreamState::write(std::string data) {
  {
    std::lock_guard lock(mutex_);
    if (ended_ || finished_) return;
    out_ += data;
  }
  post_([id = id_](H2Connection& c) { c.resume_output(id); });
}

void H2StreamState::finish() {
  {
    std::lock_guard lock(mutex_);
    if (ended_ || finished_) return;
    finished_ = true;
  }
  post_([id = id_](H2Connection& c) { c.resume_output(id); });
}

std::size_t H2StreamState::buffered_bytes() const {
  std::lock_guard lock(mutex_);
  return out_.size();
}

void H2StreamState::pause() {
  post_([id = id_](H2Connection& c) { c.acknowledge(id, true); });
}

void H2StreamState::resume() {
  post_([id = id_](H2Connection& c) { c.acknowledge(id, false); });
}

void H2StreamState::on_drained(std::size_t limit, std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!ended_ && out_.size() > limit) {
      drain_limit_ = limit;
      drained_ = std::move(callback);
      return;
    }
  }
  callback();
}

void H2StreamState::run_drained() {
  std::function<void()> run;
  {
    std::lock_guard lock(mutex_);
    if (drained_ && (ended_ || out_.size() <= drain_limit_)) run = std::exchange(drained_, nullptr);
  }
  if (run) run();
}

std::size_t H2StreamState::take(std::uint8_t* into, std::size_t room, bool& last) {
  std::size_t size = 0;
  {
    std::lock_guard lock(mutex_);
    size = std::min(room, out_.size());
    std::memcpy(into, out_.data(), size);
    out_.erase(0, size);
    last = finished_ && out_.empty();
  }
  run_drained();
  return size;
}

void H2StreamState::end() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    out_.clear();
  }
  run_drained();
}

nghttp2_session* H2Connection::make_session(H2Connection* self) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session* session = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);  // a paused stream is not acknowledged
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        auto* me = static_cast<H2Connection*>(user);
        if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
          me->opening_[frame->hd.stream_id];
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
         const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
        return static_cast<H2Connection*>(user)->on_header(
            frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_size},
            {reinterpret_cast<const char*>(value), value_size});
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        auto* me = static_cast<H2Connection*>(user);
        const std::int32_t id = frame->hd.stream_id;
        if (frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_HEADERS) != 0)
          me->on_headers_end(id);
        if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
            (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          const auto it = me->streams_.find(id);
          if (it != me->streams_.end() && it->second->events.on_end) it->second->events.on_end();
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
        auto* me = static_cast<H2Connection*>(user);
        const auto it = me->streams_.find(id);
        if (it == me->streams_.end()) {
          nghttp2_session_consume_connection(me->session_, size);
          return 0;
        }
        const auto stream = it->second;
        stream->unacknowledged += size;
        if (stream->events.on_data) stream->events.on_data({reinterpret_cast<const char*>(data), size});
        me->acknowledge(id, stream->paused);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
        static_cast<H2Connection*>(user)->on_stream_end(id);
        return 0;
      });
  nghttp2_session_server_new2(&session, callbacks, self, option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_option_del(option);
  return session;
}

H2Connection::H2Connection(int fd, SSL* ssl, H2Handler& handler, H2StreamState::Post post,
                           base::SteadyTime now)
    : fd_(fd),
      ssl_(ssl),
      handler_(handler),
      post_(std::move(post)),
      session_(make_session(this)),
      last_(now) {
  SSL_set_fd(ssl_, fd_);
  SSL_set_accept_state(ssl_);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kWindow)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 16 * kWindow);
}

H2Connection::~H2Connection() {
  for (auto& [id, stream] : streams_) {
    stream->end();
    if (stream->events.on_gone) stream->events.on_gone();
    stream->events = {};
  }
  nghttp2_session_del(session_);
  SSL_free(ssl_);
  ::close(fd_);
}

short H2Connection::wanted() const { return static_cast<short>(POLLIN | (want_write_ ? POLLOUT : 0)); }

std::size_t H2Connection::streams() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(), [](const auto& s) { return !s.second->answered; }));
}

bool H2Connection::idle(base::SteadyTime now) const { return streams() == 0 && now - last_ > kMayIdle; }

void H2Connection::refuse_further() {
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

void H2Connection::ready(base::SteadyTime now) {
  last_ = now;
  ERR_clear_error();
  if (!shaken_) {
    const int done = SSL_accept(ssl_);
    if (done != 1) {
      const int why = SSL_get_error(ssl_, done);
      want_write_ = why == SSL_ERROR_WANT_WRITE;
      over_ = why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
      return;
    }
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &protocol, &size);
    if (size != 2) {  // a client without ALPN would speak HTTP/1.1
      over_ = true;
      return;
    }
    shaken_ = true;
  }
  read();
  flush();
}

void H2Connection::read() {
  std::uint8_t buffer[16U << 10U];
  for (int rounds = 0; rounds < 64 && !over_; ++rounds) {
    ERR_clear_error();  // what another connection left there would be taken for this one's end
    const int got = SSL_read(ssl_, buffer, sizeof buffer);
    if (got <= 0) {
      const int why = SSL_get_error(ssl_, got);
      over_ = why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE;
      return;
    }
    if (nghttp2_session_mem_recv(session_, buffer, static_cast<std::size_t>(got)) < 0) over_ = true;
  }
}

void H2Connection::flush() {
  if (!shaken_ || over_) return;
  while (true) {
    while (out_.size() < kOutputAtOnce) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) over_ = true;
      if (size <= 0) break;
      out_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
    if (out_.empty()) break;
    ERR_clear_error();
    const int sent = SSL_write(ssl_, out_.data(), static_cast<int>(out_.size()));
    if (sent <= 0) {
      const int why = SSL_get_error(ssl_, sent);
      want_write_ = why == SSL_ERROR_WANT_WRITE;
      over_ = over_ || (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE);
      return;
    }
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  want_write_ = false;
  over_ = over_ || (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

int H2Connection::on_header(std::int32_t id, std::string_view name, std::string_view value) {
  const auto it = opening_.find(id);
  if (it == opening_.end()) return 0;  // trailers say nothing here
  Opening& opening = it->second;
  opening.bytes += name.size() + value.size() + 32;
  if (opening.bytes > kMaxHeaderBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
  net::Request& request = opening.request;
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    request.target = value;
    const auto question = std::min(value.find('?'), value.size());
    request.path = value.substr(0, question);
    request.query = value.substr(std::min(question + 1, value.size()));
  } else if (name == ":authority") {
    request.headers.set("host", std::string(value));
  } else if (!name.empty() && name[0] != ':' && (name != "host" || !request.headers.find("host"))) {
    request.headers.add(std::string(name), std::string(value));
  }
  return 0;
}

void H2Connection::on_headers_end(std::int32_t id) {
  const auto it = opening_.find(id);
  if (it == opening_.end()) return;
  it->second.request.id = random_uuid();
  const auto stream = std::make_shared<H2StreamState>(id, std::move(it->second.request), post_);
  opening_.erase(it);
  streams_[id] = stream;
  stream->events = handler_(stream);
}

void H2Connection::on_stream_end(std::int32_t id) {
  opening_.erase(id);
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  const auto stream = it->second;
  streams_.erase(it);
  nghttp2_session_consume_connection(session_, std::exchange(stream->unacknowledged, 0));
  stream->end();
  const H2Events events = std::exchange(stream->events, {});
  if (events.on_gone) events.on_gone();
}

void H2Connection::submit_head(std::int32_t id, int status, const net::Headers& headers) {
  if (streams_.count(id) == 0) return;
  const std::string code = fmt::format("{}", status);
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, value] : headers.rows()) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!of_http1(lower)) rows.emplace_back(std::move(lower), value);
  }
  std::vector<nghttp2_nv> fields{pair_of(":status", code)};
  for (const auto& [name, value] : rows) fields.push_back(pair_of(name, value));
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t stream_id, std::uint8_t* into, std::size_t room,
                              std::uint32_t* flags, nghttp2_data_source*, void* user) -> ssize_t {
    auto* me = static_cast<H2Connection*>(user);
    const auto it = me->streams_.find(stream_id);
    if (it == me->streams_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    bool last = false;
    const std::size_t size = it->second->take(into, room, last);
    if (last) *flags |= NGHTTP2_DATA_FLAG_EOF;
    it->second->answered = last;
    return size == 0 && !last ? static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED) : static_cast<ssize_t>(size);
  };
  nghttp2_submit_response(session_, id, fields.data(), fields.size(), &provider);
}

void H2Connection::resume_output(std::int32_t id) { nghttp2_session_resume_data(session_, id); }

void H2Connection::acknowledge(std::int32_t id, bool paused) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  H2StreamState& stream = *it->second;
  stream.paused = paused;
  if (paused || stream.unacknowledged == 0) return;
  nghttp2_session_consume(session_, id, std::exchange(stream.unacknowledged, 0));
}

}  // namespace headroom::cloud
