// HttpConnection: one socket of an HttpLane and, while it is busy, the request on it. Internal to src/load.
//
// Belongs to the lane's thread. It reads once for each event and asks for more only where more is known to be
// there, so events are edges (EPOLLET): each says that something came since the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aws/invoke.hpp"
#include "aws/invoke_outcome.hpp"
#include "base/clock.hpp"
#include "load/event_lane.hpp"
#include "load/http_answer.hpp"

namespace headroom::load {

class HttpConnection;
class HttpLane;

struct HttpJob {
  std::uint64_t id = 0;
  std::string text;  // the whole request
  aws::InvokeEvents events;
  base::SteadyTime begun{}, give_up{};
  aws::AnswerFacts facts;
  HttpConnection* connection = nullptr;  // null: waits for one
};

class HttpConnection final : public EventLane::Watcher, private HttpAnswer::Sink {
 public:
  HttpConnection(HttpLane& lane, int fd) : lane_(lane), fd_(fd) {}
  ~HttpConnection() override { close_socket(); }

  void close_socket();
  int fd() const { return fd_; }
  bool connecting() const { return connecting_; }
  bool feeding() const { return feeding_; }
  void mark_cancelled() { cancelled_ = true; }
  HttpJob* job() { return job_; }

  void take(HttpJob& job);
  void release();  // the job has no connection any more
  void connect_late();

  void ready(std::uint32_t events) override;

 private:
  void finish_connect();
  void send();
  void receive(bool closing);
  void settle(bool reuse);
  void fail(const std::string& why);
  void head() override;
  void body(std::string_view piece) override;

  HttpLane& lane_;
  int fd_;
  bool connecting_ = true;
  bool blocked_ = false;
  bool feeding_ = false;         // a callback may be running: nothing is destroyed now
  bool cancelled_ = false;       // from inside a callback
  bool one_piece_first_ = true;  // the first read of a body brought one chunk of it
  int pieces_ = 0;
  HttpJob* job_ = nullptr;
  std::size_t sent_ = 0;
  base::SteadyTime arrived_{};
  HttpAnswer answer_;
};

}  // namespace headroom::load
