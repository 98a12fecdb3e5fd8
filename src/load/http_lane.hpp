// HttpLane: the connections and requests of one event lane of an HttpTarget.
//
// Everything but the constructor and make() runs on the lane's thread. Internal to src/load.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <sys/socket.h>

#include "aws/invoke_outcome.hpp"
#include "load/event_lane.hpp"
#include "load/http_answer.hpp"
#include "load/http_target.hpp"

namespace headroom::load {

struct HttpPeer {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string head;  // of every request, up to and without Content-Type
  base::Duration connect_timeout{};
};

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

 private:
  class Connection;
  struct Job {
    std::uint64_t id = 0;
    std::string text;  // the whole request
    aws::InvokeEvents events;
    base::SteadyTime give_up{};
    aws::AnswerFacts facts;
    Connection* connection = nullptr;  // null: waits for one
  };
  struct Warming {
    std::size_t wanted = 0;
    std::size_t opening = 0;
    std::string error;
    std::function<void(std::string)> done;
  };

  std::shared_ptr<Connection> connect(std::string& error);
  void idle(Connection& connection);
  void drop(Connection& connection);
  // Reads into buffer_; `at`: when the kernel got the bytes, or now where it does not say.
  ssize_t read(int fd, base::SteadyTime& at);
  void end(Job& job, bool timed_out, bool cancelled, base::SteadyTime at);
  void end_cancelled(Connection& connection);
  void opened(Connection& connection, const std::string& error);
  void warm_more();
  void arm(base::SteadyTime when);
  void expire();

  const HttpPeer& peer_;
  const std::size_t most_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Job>> jobs_;
  std::set<std::pair<base::SteadyTime, std::uint64_t>> deadlines_;
  std::optional<base::SteadyTime> armed_;
  std::uint64_t next_id_ = 1;
  std::deque<std::uint64_t> waiting_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::vector<Connection*> idle_;
  std::optional<Warming> warming_;
  std::vector<char> buffer_;
  std::unique_ptr<EventLane> loop_;  // last: ends first
};

}  // namespace headroom::load
