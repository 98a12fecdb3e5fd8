// HttpLane: the connections and requests of one event lane of an HttpTarget.
//
// Everything but the constructor and make() runs on the lane's thread. Internal to src/load.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sys/socket.h>

#include "load/event_lane.hpp"
#include "load/http_connection.hpp"
#include "load/http_target.hpp"
#include "load/rest_rule.hpp"

namespace headroom::load {

struct HttpPeer {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string head;  // of every request, up to and without Content-Type
  base::Duration connect_timeout{};
};

enum class HttpEnd { kEnded, kTimedOut, kCancelled };

class HttpLane {
 public:
  HttpLane(const HttpPeer& peer, std::size_t connections) : peer_(peer), most_(connections) {}
  ~HttpLane();

  base::Result<void> begin(std::optional<int> core);
  EventLane& loop() { return *loop_; }

  std::uint64_t start(aws::InvokeRequest request, aws::InvokeEvents events);
  void cancel(std::uint64_t id);
  // Opens connections until `count` stand; `done` gets the first error's text, "" if none.
  void warm(std::size_t count, std::function<void(std::string)> done);
  void close_all();

  // For the lane's connections.
  void opened(const std::string& error);
  void idle(HttpConnection& connection);
  void drop(HttpConnection& connection);
  // What came, valid until the next call; empty at the end of the stream; nullopt: errno says why. `at`: when
  // the kernel got the bytes, or now where it does not say.
  std::optional<std::string_view> read(int fd, base::SteadyTime& at);
  std::size_t read_size() const { return buffer_.size(); }
  void end(HttpJob& job, HttpEnd how, base::SteadyTime at);
  void end_cancelled(HttpConnection& connection);
  void note_length(base::Duration length, bool one_piece_first) {
    loop_->rest(rest_rule_.note(length, one_piece_first));
  }

 private:
  using Jobs = std::list<HttpJob>;
  struct Warming {
    std::size_t wanted = 0;
    std::size_t opening = 0;
    std::string error;
    std::function<void(std::string)> done;
  };

  std::shared_ptr<HttpConnection> connect(std::string& error);
  Jobs::iterator new_job(base::SteadyTime give_up);
  HttpJob* next_waiting();
  void warm_more();
  void arm(base::SteadyTime when);
  void expire();

  const HttpPeer& peer_;
  const std::size_t most_;
  Jobs jobs_;   // open, by the end of their time
  Jobs spare_;  // ended ones, whose memory the next ones use
  std::unordered_map<std::uint64_t, Jobs::iterator> by_id_;
  std::optional<base::SteadyTime> armed_;
  std::uint64_t next_id_ = 1;
  std::deque<std::uint64_t> waiting_;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  std::vector<HttpConnection*> idle_;
  std::optional<Warming> warming_;
  std::vector<char> buffer_;
  RestRule rest_rule_;
  std::unique_ptr<EventLane> loop_;  // last: ends first
};

}  // namespace headroom::load
