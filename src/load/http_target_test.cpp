// Tests of the plain HTTP transport against the server of known delay, on real sockets.
#include "load/http_target.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/known_delay_server.hpp"

namespace headroom::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Seen {
  aws::InvokeResult result;
  std::size_t pieces = 0, bytes = 0;
  base::SteadyTime first{};
};

class HttpTargetTest : public testing::Test {
 protected:
  void begin(KnownDelayOptions options, std::size_t connections = 4, std::size_t lanes = 1) {
    server = std::move(*KnownDelayServer::make(options));
    HttpTargetOptions http;
    http.url = "http://127.0.0.1:" + std::to_string(server->port()) + "/invocations";
    http.connections = connections;
    http.lanes = lanes;
    target = std::move(*HttpTarget::make(http));
  }
  std::future<Seen> send(std::size_t lane, base::Duration timeout = seconds{20}, bool cancel_at_data = false,
                         const std::string& body = "{}") {
    auto promise = std::make_shared<std::promise<Seen>>();
    auto seen = std::make_shared<Seen>();
    auto id = std::make_shared<std::uint64_t>(0);
    target->post(lane, [=, this] {
      aws::InvokeRequest request;
      request.body = body;
      request.timeout = timeout;
      aws::InvokeEvents events;
      events.on_data = [=, this](base::SteadyTime at, std::string_view bytes) {
        if (seen->pieces++ == 0) seen->first = at;
        seen->bytes += bytes.size();
        if (cancel_at_data) target->cancel(lane, *id);
      };
      events.on_done = [=](base::SteadyTime, const aws::InvokeResult& result) {
        seen->result = result;
        promise->set_value(*seen);
      };
      *id = target->start(lane, std::move(request), std::move(events));
    });
    return promise->get_future();
  }

  std::unique_ptr<KnownDelayServer> server;
  std::unique_ptr<HttpTarget> target;
};

KnownDelayOptions quick(int chunks = 3) {
  KnownDelayOptions options;
  options.first = milliseconds{5};
  options.gap = milliseconds{2};
  options.chunks = chunks;
  return options;
}

TEST_F(HttpTargetTest, BringsEveryPieceAndTheServersOwnTimes) {
  begin(quick());
  const Seen seen = send(0).get();
  EXPECT_EQ(seen.result.outcome, aws::Outcome::kOk);
  EXPECT_EQ(seen.bytes, 3u * 320u);
  const auto known = parse_known_times(seen.result.server_request_id);
  ASSERT_TRUE(known);
  EXPECT_GE(seen.first, known->sent);
  EXPECT_GE(known->sent - known->received, milliseconds{5});
}

TEST_F(HttpTargetTest, MoreRequestsThanConnectionsWaitAndAllEnd) {
  begin(quick(), 3, 2);
  EXPECT_TRUE(target->warm(4, base::Deadline::after(base::SystemClock::instance(), seconds{20})));
  std::vector<std::future<Seen>> open;
  for (std::size_t i = 0; i < 20; ++i) open.push_back(send(i % 2));
  for (auto& one : open) EXPECT_EQ(one.get().result.outcome, aws::Outcome::kOk);
  EXPECT_LE(server->stats().most_outstanding, 4);
  // The server counts a request when its last byte is written, which the client may read before.
  const auto patience = base::Deadline::after(base::SystemClock::instance(), seconds{20});
  while (server->stats().requests < 20u && !patience.passed(base::SystemClock::instance()))
    std::this_thread::yield();
  EXPECT_EQ(server->stats().requests, 20u);
}

TEST_F(HttpTargetTest, TimesOutCancelsAndGoesOn) {
  KnownDelayOptions slow = quick();
  slow.first = milliseconds{200};
  begin(slow);
  const Seen late = send(0, milliseconds{20}).get();
  EXPECT_EQ(late.result.outcome, aws::Outcome::kTimedOut);
  EXPECT_EQ(late.pieces, 0u);
  const Seen cut = send(0, seconds{20}, true).get();
  EXPECT_EQ(cut.result.outcome, aws::Outcome::kAborted);
  EXPECT_EQ(cut.pieces, 1u);
  EXPECT_EQ(send(0).get().result.outcome, aws::Outcome::kOk);
}

TEST_F(HttpTargetTest, AServerThatIsGoneFailsAndSaysSo) {
  begin(quick());
  EXPECT_EQ(send(0).get().result.outcome, aws::Outcome::kOk);
  server.reset();
  const Seen gone = send(0).get();
  EXPECT_EQ(gone.result.outcome, aws::Outcome::kFailed);
  EXPECT_FALSE(gone.result.error.empty());
  const auto warm = target->warm(4, base::Deadline::after(base::SystemClock::instance(), seconds{20}));
  ASSERT_FALSE(warm);
  EXPECT_EQ(warm.error().code, base::ErrorCode::kUnavailable);
}

// Takes connections one after the other and answers each request on them with `bytes` bytes.
class BigAnswers {
 public:
  BigAnswers(std::size_t requests, std::size_t body, std::size_t bytes, bool close_behind)
      : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([=, this] { serve(requests, body, bytes, close_behind); });
  }
  ~BigAnswers() {
    shutdown(listener_, SHUT_RDWR);  // should it still wait for someone
    thread_.join();
    close(listener_);
  }
  std::uint16_t port = 0;
  std::atomic<int> connections{0};

 private:
  void serve(std::size_t requests, std::size_t body, std::size_t bytes, bool close_behind) {
    int fd = -1;
    std::vector<char> buffer(256 * 1024);
    for (std::size_t i = 0; i < requests; ++i) {
      if (fd < 0) {
        fd = accept(listener_, nullptr, nullptr);
        ++connections;
      }
      std::string got;
      while (got.find("\r\n\r\n") == std::string::npos || got.size() < got.find("\r\n\r\n") + 4 + body) {
        const auto more = recv(fd, buffer.data(), buffer.size(), 0);
        if (more <= 0) return;
        got.append(buffer.data(), static_cast<std::size_t>(more));
      }
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
                                 std::string(bytes, 'x');
      for (std::size_t sent = 0; sent < answer.size();) {
        const auto done = ::send(fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (done <= 0) return;
        sent += static_cast<std::size_t>(done);
      }
      if (close_behind) {
        close(fd);
        fd = -1;
      }
    }
    if (fd >= 0) close(fd);
  }
  int listener_;
  std::thread thread_;
};

TEST_F(HttpTargetTest, WhatIsLargerThanEveryBufferPassesInPieces) {
  constexpr std::size_t kBody = 8'000'000, kAnswer = 5'000'000;
  BigAnswers big(3, kBody, kAnswer, false);
  target = std::move(*HttpTarget::make({.url = "http://127.0.0.1:" + std::to_string(big.port) + "/"}));
  for (int i = 0; i < 3; ++i) {
    const Seen seen = send(0, seconds{60}, false, std::string(kBody, 'b')).get();
    EXPECT_EQ(seen.result.outcome, aws::Outcome::kOk) << seen.result.error;
    EXPECT_EQ(seen.bytes, kAnswer);
  }
  EXPECT_EQ(big.connections, 1);
}

TEST_F(HttpTargetTest, AConnectionThatTheServerClosedBehindAnAnswerIsReplaced) {
  BigAnswers big(3, 2, 10, true);
  target = std::move(*HttpTarget::make({.url = "http://127.0.0.1:" + std::to_string(big.port) + "/"}));
  for (int i = 0; i < 3; ++i) {
    Seen seen = send(0).get();
    // The close may reach us only after the next request went out; that one fails, and none hangs.
    if (seen.result.outcome != aws::Outcome::kOk) seen = send(0).get();
    EXPECT_EQ(seen.result.outcome, aws::Outcome::kOk) << seen.result.error;
  }
  EXPECT_EQ(big.connections, 3);
}

TEST_F(HttpTargetTest, EndsWhatIsOpenWhenItGoes) {
  KnownDelayOptions slow = quick();
  slow.first = seconds{60};
  begin(slow);
  auto open = send(0);
  std::promise<void> sent;
  target->post(0, [&sent] { sent.set_value(); });
  sent.get_future().wait();
  target.reset();
  EXPECT_EQ(open.get().result.outcome, aws::Outcome::kAborted);
}

TEST(HttpTarget, RefusesWhatItCannotDo) {
  EXPECT_FALSE(HttpTarget::make({.url = "https://127.0.0.1/"}));
  EXPECT_FALSE(HttpTarget::make({.url = "ftp://127.0.0.1/"}));
  const auto many = HttpTarget::make({.url = "http://127.0.0.1:1/", .connections = 50'000'000});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace headroom::load
