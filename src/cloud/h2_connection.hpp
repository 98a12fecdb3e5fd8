// One HTTP/2 connection: TLS records in, frames out. Internal to h2_server.cpp; lives on its thread.
//
// The server polls the descriptor and calls ready(); the connection says what it waits for. No locks but that
// of each stream's output, which other threads fill.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include "base/clock.hpp"
#include "cloud/h2_server.hpp"

namespace headroom::cloud {

class H2Connection;

// What the thread and the owner of a stream share. `post` runs work on the thread, for a connection that may
// be gone by then.
class H2StreamState final : public H2Stream, public std::enable_shared_from_this<H2StreamState> {
 public:
  using Post = std::function<void(std::function<void(H2Connection&)>)>;
  H2StreamState(std::int32_t id, net::Request request, Post post)
      : id_(id), request_(std::move(request)), post_(std::move(post)) {}

  const net::Request& request() const override { return request_; }
  void respond(net::Response response) override;
  void begin(int status, net::Headers headers) override;
  void write(std::string data) override;
  void finish() override;
  std::size_t buffered_bytes() const override;
  void pause() override;
  void resume() override;
  void on_drained(std::size_t limit, std::function<void()> callback) override;

  // The connection's side.
  std::size_t take(std::uint8_t* into, std::size_t room, bool& last);  // 0 and !last: nothing at the moment
  void end();                                                          // dropped from now on
  H2Events events;
  std::size_t unacknowledged = 0;
  bool paused = false;
  bool answered = false;  // its answer is complete, though the client may not have ended its side

 private:
  void run_drained();

  const std::int32_t id_;
  const net::Request request_;
  const Post post_;
  mutable std::mutex mutex_;
  std::string out_;
  bool begun_ = false, finished_ = false, ended_ = false;
  std::size_t drain_limit_ = 0;
  std::function<void()> drained_;
};

class H2Connection {
 public:
  H2Connection(int fd, SSL* ssl, H2Handler& handler, H2StreamState::Post post, base::SteadyTime now);
  ~H2Connection();
  H2Connection(const H2Connection&) = delete;
  H2Connection& operator=(const H2Connection&) = delete;

  int fd() const { return fd_; }
  short wanted() const;  // poll events
  void ready(base::SteadyTime now);
  void flush();  // after any of the calls below
  bool over() const { return over_; }
  bool idle(base::SteadyTime now) const;
  std::size_t streams() const;  // whose answer is not complete
  void refuse_further();        // GOAWAY; open streams go on

  // For streams, on the thread.
  void submit_head(std::int32_t id, int status, const net::Headers& headers);
  void resume_output(std::int32_t id);
  void acknowledge(std::int32_t id, bool paused);

 private:
  struct Opening {
    net::Request request;
    std::size_t bytes = 0;
  };
  void read();
  int on_header(std::int32_t id, std::string_view name, std::string_view value);
  void on_headers_end(std::int32_t id);
  void on_stream_end(std::int32_t id);
  static nghttp2_session* make_session(H2Connection* self);

  int fd_;
  SSL* ssl_;
  H2Handler& handler_;
  H2StreamState::Post post_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Opening> opening_;
  std::map<std::int32_t, std::shared_ptr<H2StreamState>> streams_;
  std::string out_;  // frames that TLS has not taken
  base::SteadyTime last_;
  bool shaken_ = false, want_write_ = false, over_ = false;
};

}  // namespace headroom::cloud
