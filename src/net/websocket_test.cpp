// WebSocket server and client against each other on the loopback interface, and frames written by hand.
#include "net/websocket.hpp"

#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include "net/server.hpp"
#include "net/test_raw_link.hpp"
#include "net/ws_client.hpp"

namespace headroom::net {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

// Sends every message back; remembers how the last connection ended.
class EchoTest : public testing::Test {
 protected:
  void start(WsLimits limits = {}) {
    auto made = Server::start(loop_, {}, [this, limits](std::shared_ptr<Exchange> exchange) {
      if (!wants_websocket(exchange->request())) return exchange->respond({426, {}, "upgrade"});
      exchange->accept_websocket(limits, [this](std::shared_ptr<WebSocket> socket) {
        server_side_ = socket;
        return WsEvents{{},
                        [socket](std::string message, bool text) {
                          if (message == "throw") throw 1;
                          if (message == "bye") return socket->close(4000, "as asked");
                          text ? socket->send_text(std::move(message))
                               : socket->send_binary(std::move(message));
                        },
                        [this](const WsEnd& end) { server_end_.set_value(end); }};
      });
    });
    ASSERT_TRUE(made);
    server_ = std::move(*made);
  }
  void TearDown() override {
    server_.reset();
    loop_.stop();
  }
  std::shared_ptr<WebSocket> open() {
    WsRequest request;
    request.port = server_->port();
    return ws_connect(loop_, request,
                      {{},
                       [this](std::string message, bool text) {
                         std::lock_guard lock(mutex_);
                         heard_.emplace_back(std::move(message), text);
                         if (heard_.size() == expected_) all_heard_.set_value();
                       },
                       [this](const WsEnd& end) { client_end_.set_value(end); }});
  }
  WsEnd wait(std::promise<WsEnd>& promise) {
    auto future = promise.get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }
  // One message there and back.
  void exchange(WebSocket& socket, const std::string& text) {
    expected_ = 1;
    socket.send_text(text);
    ASSERT_EQ(all_heard_.get_future().wait_for(kPatience), std::future_status::ready);
  }
  // After one message; two more are then awaited.
  void pause_after_first(WebSocket& socket) {
    ASSERT_NO_FATAL_FAILURE(exchange(socket, "first"));
    server_side_->pause();
    all_heard_ = {};
    expected_ = 3;
  }
  void wait_in_loop(std::chrono::milliseconds time) {
    std::promise<void> looped;
    loop_.after(time, [&] { looped.set_value(); });
    looped.get_future().wait();
  }
  RawLink raw() {
    RawLink link(server_->port());
    link.send(
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    EXPECT_NE(link.read_until("\r\n\r\n").find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos);
    return link;
  }

  Loop loop_{2};
  std::unique_ptr<Server> server_;
  std::shared_ptr<WebSocket> server_side_;
  std::promise<WsEnd> server_end_;
  std::promise<WsEnd> client_end_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, bool>> heard_;  // guarded by mutex_
  std::size_t expected_ = 0;
  std::promise<void> all_heard_;
};

// A frame with the mask of zeros, so that the payload stands as it is.
std::string masked(int first_byte, std::string_view payload) {
  std::string frame{static_cast<char>(first_byte), static_cast<char>(0x80 | payload.size())};
  return frame + std::string(4, '\0') + std::string(payload);
}

int close_code(const std::string& frame) {
  if (frame.size() < 4 || static_cast<unsigned char>(frame[0]) != 0x88) return -1;
  return static_cast<unsigned char>(frame[2]) * 256 + static_cast<unsigned char>(frame[3]);
}

}  // namespace

TEST_F(EchoTest, CarriesTextAndBinaryBothWaysInOrder) {
  start();
  expected_ = 3;
  auto socket = open();
  socket->send_text("a");  // before it is open
  socket->send_binary(std::string(200'000, 'b'));
  socket->send_text("");
  ASSERT_EQ(all_heard_.get_future().wait_for(kPatience), std::future_status::ready);
  {
    std::lock_guard lock(mutex_);
    EXPECT_EQ(heard_[0], std::pair(std::string("a"), true));
    EXPECT_EQ(heard_[1], std::pair(std::string(200'000, 'b'), false));
    EXPECT_EQ(heard_[2], std::pair(std::string(), true));
  }
  socket->close(1000, "done");
  EXPECT_EQ(wait(client_end_).code, 1000);
  const WsEnd end = wait(server_end_);
  EXPECT_EQ(end.code, 1000);
  EXPECT_EQ(end.reason, "done");
  EXPECT_FALSE(end.error);
}

TEST_F(EchoTest, TellsTheCodeOfTheServersClose) {
  start();
  auto socket = open();
  socket->send_text("bye");
  const WsEnd end = wait(client_end_);
  EXPECT_EQ(end.code, 4000);
  EXPECT_EQ(end.reason, "as asked");
}

TEST_F(EchoTest, ClosesWhenNothingIsSaid) {
  start({.idle_limit = std::chrono::milliseconds(60)});
  auto socket = open();
  const WsEnd end = wait(client_end_);
  EXPECT_EQ(end.code, 1001);
}

TEST_F(EchoTest, RefusesAMessageOverTheLimit) {
  start({.max_message_bytes = 1000});
  auto socket = open();
  socket->send_text(std::string(1001, 'x'));
  EXPECT_EQ(wait(client_end_).code, 1009);
  EXPECT_EQ(wait(server_end_).code, 1009);
}

TEST_F(EchoTest, AHandlerThatThrowsEndsTheConnectionOnly) {
  start();
  auto socket = open();
  socket->send_text("throw");
  EXPECT_EQ(wait(client_end_).code, 1011);
}

TEST_F(EchoTest, ACutConnectionIsAnErrorOnTheOtherSide) {
  start();
  auto socket = open();
  ASSERT_NO_FATAL_FAILURE(exchange(*socket, "here"));
  socket->cut();
  EXPECT_EQ(wait(client_end_).error->code, base::ErrorCode::kCancelled);
  const WsEnd end = wait(server_end_);
  EXPECT_EQ(end.code, 1006);
  EXPECT_TRUE(end.error);
}

TEST_F(EchoTest, ReadsNoMoreWhilePaused) {
  start();
  auto socket = open();
  ASSERT_NO_FATAL_FAILURE(pause_after_first(*socket));
  socket->send_text("second");  // may be in the read that was pending already
  socket->send_text("third");
  wait_in_loop(std::chrono::milliseconds(30));
  {
    std::lock_guard lock(mutex_);
    EXPECT_LT(heard_.size(), 3U);
  }
  server_side_->resume();
  EXPECT_EQ(all_heard_.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST_F(EchoTest, APausedConnectionOutlivesThePingsThatItDoesNotRead) {
  start({.ping_after = std::chrono::milliseconds(200)});
  auto socket = open();
  ASSERT_NO_FATAL_FAILURE(pause_after_first(*socket));
  socket->send_text("second");  // ends the read that was pending already
  wait_in_loop(std::chrono::milliseconds(1200));
  server_side_->resume();
  socket->send_text("third");
  EXPECT_EQ(all_heard_.get_future().wait_for(kPatience), std::future_status::ready);
}

// After a pause the peer is watched again.
TEST_F(EchoTest, AResumedConnectionIsCutWhenItsPeerIsSilent) {
  start({.ping_after = std::chrono::milliseconds(200)});
  RawLink link = raw();
  link.send(masked(0x81, "first"));
  EXPECT_EQ(link.read_bytes(7), std::string("\x81\x05") + "first");
  server_side_->pause();
  link.send(masked(0x81, "second"));
  EXPECT_EQ(link.read_bytes(8), std::string("\x81\x06") + "second");
  server_side_->resume();
  EXPECT_EQ(wait(server_end_).error->code, base::ErrorCode::kTimeout);
}

TEST_F(EchoTest, DrainedIsToldWhenTheSocketTookEverythingOrItEnded) {
  start();
  auto socket = open();
  socket->send_binary(std::string(100'000, 'x'));
  std::promise<void> drained;
  socket->on_drained(0, [&] { drained.set_value(); });
  EXPECT_EQ(drained.get_future().wait_for(kPatience), std::future_status::ready);
  socket->cut();
  wait(client_end_);
  socket->send_text("after the end");
  EXPECT_EQ(socket->buffered_bytes(), 0U);
}

TEST_F(EchoTest, KeepsWhoReadsSlowlyAndCutsWhoDoesNotRead) {
  constexpr std::size_t kMessages = 384;
  constexpr std::size_t kMessage = 32U << 10U;
  start({.write_timeout = std::chrono::milliseconds(500)});
  const auto send_much = [&](RawLink& link) {
    link.send(masked(0x81, "here"));
    link.read_bytes(6);
    for (std::size_t i = 0; i < kMessages; ++i) server_side_->send_binary(std::string(kMessage, 'x'));
  };
  RawLink silent = raw();
  send_much(silent);
  EXPECT_EQ(wait(server_end_).error->code, base::ErrorCode::kCancelled);
  server_end_ = {};
  RawLink slow = raw();
  send_much(slow);
  constexpr std::size_t kRate = 800'000;
  ASSERT_TRUE(slow.read_slowly(std::chrono::milliseconds(1500), kRate));
  const std::size_t rest = kMessages * (kMessage + 4) - kRate * 3 / 2;
  EXPECT_EQ(slow.read_bytes(rest).size(), rest);
}

TEST_F(EchoTest, AnswersPingsAndJoinsFragments) {
  start();
  RawLink link = raw();
  link.send(masked(0x01, "one ") + masked(0x89, "?") + masked(0x80, "two"));
  EXPECT_EQ(link.read_bytes(3), std::string("\x8A\x01?"));
  EXPECT_EQ(link.read_bytes(9), std::string("\x81\x07one two"));
}

TEST_F(EchoTest, EndsBrokenFramesWithTheirCodes) {
  start();
  const std::vector<std::pair<std::string, int>> cases{
      {std::string("\x81\x01x"), 1002},                                             // not masked
      {masked(0x83, "x"), 1002},                                                    // reserved opcode
      {masked(0xC1, "x"), 1002},                                                    // reserved bit
      {masked(0x80, "x"), 1002},                                                    // continues nothing
      {masked(0x81, "\xff\xfe"), 1007},                                             // no UTF-8
      {std::string("\x81\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0", 14), 1009},  // says 2^63 bytes
  };
  for (const auto& [bytes, code] : cases) {
    server_end_ = {};
    RawLink link = raw();
    link.send(bytes);
    EXPECT_EQ(close_code(link.read_bytes(4)), code) << testing::PrintToString(bytes);
    link.shut();
    wait(server_end_);
  }
}

TEST_F(EchoTest, AHalfUpgradeIsAnOrdinaryRequest) {
  start();
  for (const char* headers : {"Upgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: websocket\r\n",
                              "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"}) {
    RawLink link(server_->port());
    link.send(std::string("GET / HTTP/1.1\r\nHost: x\r\n") + headers + "\r\n");
    EXPECT_EQ(link.read_until("\r\n").substr(0, 12), "HTTP/1.1 426");
  }
}

TEST(WebSocketUpgrade, NeedsHttp11) {
  Request request;
  request.method = "GET";
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"upgrade", "websocket"},
           {"connection", "keep-alive, Upgrade"},
           {"sec-websocket-version", "13"},
           {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}}) {
    request.headers.add(name, value);
  }
  EXPECT_TRUE(wants_websocket(request));
  request.http_1_0 = true;  // RFC 6455 section 4.1; the 101 would not reach a client behind such a hop
  EXPECT_FALSE(wants_websocket(request));
}

TEST(WsClient, SaysWhoDeclinedAndWhy) {
  Loop loop(1);
  auto server = Server::start(loop, {}, [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({503, {}, "busy"});
  });
  ASSERT_TRUE(server);
  std::promise<WsEnd> ended;
  WsRequest request;
  request.port = (*server)->port();
  auto socket = ws_connect(loop, request, {{}, {}, [&](const WsEnd& end) { ended.set_value(end); }});
  const WsEnd end = ended.get_future().get();
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->code, base::ErrorCode::kRemote);
  EXPECT_NE(end.error->message.find("503 busy"), std::string::npos) << end.error->message;
}

TEST(WsClient, SaysWhenNobodyListens) {
  Loop loop(1);
  std::promise<WsEnd> ended;
  WsRequest request;
  request.port = 1;
  auto socket = ws_connect(loop, request, {{}, {}, [&](const WsEnd& end) { ended.set_value(end); }});
  EXPECT_EQ(ended.get_future().get().error->code, base::ErrorCode::kUnavailable);
}

}  // namespace headroom::net
