// Server and client against each other on the loopback interface.
#include "net/server.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/client.hpp"
#include "net/test_raw_link.hpp"

namespace headroom::net {
namespace {

ServerOptions small_server() {
  ServerOptions options;
  options.max_body_bytes = 1000;
  options.early_answer = [](int status, const Request&) { return Response{status, {}, "early"}; };
  return options;
}

ClientRequest to(const Server& server, std::string target, std::string body = {}) {
  ClientRequest request;
  request.port = server.port();
  request.method = body.empty() ? "GET" : "POST";
  request.target = std::move(target);
  request.body = std::move(body);
  request.answer_timeout = std::chrono::seconds(10);
  return request;
}

}  // namespace

TEST(Server, AnswersWholeAndKeepsTheConnection) {
  Loop loop(2);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {{"x-echo", exchange->request().path}}, exchange->request().body});
  });
  ASSERT_TRUE(server);
  Client client(loop);
  for (int i = 0; i < 5; ++i) {
    auto answer = client.fetch(to(**server, "/a?b=1", "hello"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(answer->headers.get("x-echo"), "/a");
    EXPECT_FALSE(answer->headers.get("x-request-id").empty());
  }
}

TEST(Server, StreamsChunksAndTellsCleanEndFromBrokenEnd) {
  Loop loop(2);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    std::thread([exchange] {
      exchange->begin(200, {});
      for (int i = 0; i < 100; ++i) exchange->write(std::string(1000, 'x'));
      if (exchange->request().path == "/broken") exchange->abort();
      exchange->finish();  // which a broken stream does not have any more
    }).detach();
  });
  ASSERT_TRUE(server);
  Client client(loop);
  auto clean = client.fetch(to(**server, "/clean"));
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_EQ(clean->body.size(), 100'000U);
  auto broken = client.fetch(to(**server, "/broken"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::kIo);
}

TEST(Server, StreamsBareToAnOldClientAndEndsWithTheConnection) {
  Loop loop(2);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    exchange->begin(200, {});
    for (int i = 0; i < 100; ++i) exchange->write(std::string(1000, 'x'));
    exchange->finish();
  });
  ASSERT_TRUE(server);
  for (const std::string_view after : {"", "\r\n"}) {  // some send one more line end than they should
    RawLink link((*server)->port());
    link.send("GET /clean HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    link.send(after);
    const auto [answer, error] = link.read_to_end();
    EXPECT_EQ(error, 0);
    const auto head_end = answer.find("\r\n\r\n");
    ASSERT_NE(head_end, std::string::npos) << answer;
    const std::string head = answer.substr(0, head_end);
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos) << head;
    EXPECT_NE(head.find("Connection: close"), std::string::npos) << head;
    EXPECT_EQ(answer.substr(head_end + 4), std::string(100'000, 'x'));
  }
}

TEST(Server, AnOldClientSeesABrokenStreamAsAReset) {
  Loop loop(2);
  std::promise<std::shared_ptr<Exchange>> held;
  auto server = Server::start(loop, small_server(), [&](std::shared_ptr<Exchange> exchange) {
    exchange->begin(200, {});
    exchange->write("half of ");
    held.set_value(std::move(exchange));
  });
  ASSERT_TRUE(server);
  RawLink link((*server)->port());
  link.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_NE(link.read_until("half of ").find(" 200 OK"), std::string::npos);
  held.get_future().get()->abort();
  EXPECT_EQ(link.read_to_end(), std::pair(std::string{}, ECONNRESET));
}

TEST(Server, KeepsTheConnectionOfAnOldClientThatAsksForIt) {
  Loop loop(2);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {}, "whole"});
  });
  ASSERT_TRUE(server);
  RawLink link((*server)->port());
  for (int i = 0; i < 2; ++i) {
    link.send(
        "POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab");
    const std::string answer = link.read_until("whole");
    EXPECT_NE(answer.find("HTTP/1.1 200 OK"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("100 Continue"), std::string::npos) << answer;
    EXPECT_NE(answer.find("Connection: keep-alive"), std::string::npos) << answer;
    EXPECT_NE(answer.find("Content-Length: 5"), std::string::npos) << answer;
  }
  link.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(link.read_to_end().second, 0);
}

// Slow readers hold no more than the common bound: the one that has been at it the longest gives way, and
// whoever reads is served.
TEST(Server, CutsTheSlowestReaderWhereUnsentAnswersPassTheirLimit) {
  constexpr std::size_t kBody = 12U << 20U;  // more than the kernel keeps of it
  Loop loop(2);
  ServerOptions options = small_server();
  options.unsent_answers = std::make_shared<UnsentAnswers>(2 * kBody + kBody / 2);
  auto server = Server::start(loop, options, [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {}, std::string(kBody, 'x')});
  });
  ASSERT_TRUE(server);
  std::vector<RawLink> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back((*server)->port());
    slow.back().send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    slow.back().read_until("\r\n\r\n");  // the first part of its answer is there: it counts
  }
  EXPECT_EQ(options.unsent_answers->bytes(), 2 * kBody);
  Client client(loop);
  for (int i = 0; i < 3; ++i) {  // on one connection: a cut that comes late would hit its next answer
    const auto answer = client.fetch(to(**server, "/"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body.size(), kBody);
  }
  EXPECT_EQ(options.unsent_answers->cut(), 1U);
  EXPECT_EQ(slow[0].read_to_end().second, ECONNRESET);
  const auto [rest, error] = slow[1].read_to_end();
  EXPECT_EQ(rest.size(), kBody);
  EXPECT_EQ(error, 0);
}

// What is queued of a stream at its end counts like a whole answer, though the connection waits in a write.
TEST(Server, CutsTheSlowestReaderOfStreamsThatHaveEndedToo) {
  constexpr std::size_t kBody = 12U << 20U;
  Loop loop(2);
  ServerOptions options = small_server();
  options.unsent_answers = std::make_shared<UnsentAnswers>(kBody + kBody / 2);
  auto server = Server::start(loop, options, [](std::shared_ptr<Exchange> exchange) {
    exchange->begin(200, {});
    exchange->write(std::string(kBody, 'x'));
    exchange->finish();
  });
  ASSERT_TRUE(server);
  const UnsentAnswers& unsent = *options.unsent_answers;
  const auto becomes = [](const auto& what) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!what() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    return what();
  };
  const auto start = [&] {
    RawLink link((*server)->port());
    link.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    link.read_until("\r\n\r\n");
    return link;
  };
  RawLink first = start();
  EXPECT_TRUE(becomes([&] { return unsent.bytes() == kBody; }));
  RawLink second = start();
  EXPECT_TRUE(becomes([&] { return unsent.cut() == 1; }));
  EXPECT_EQ(first.read_to_end().second, ECONNRESET);
  const auto [rest, error] = second.read_to_end();
  EXPECT_GE(rest.size(), kBody);  // and the marks between chunks
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(becomes([&] { return unsent.bytes() == 0; }));
}

// The pace is that of playback, in small: the time for a write is passed several times over before a client
// has taken as much as the kernel would like to keep of an answer.
TEST(Server, KeepsWhoReadsSlowlyAndCutsWhoDoesNotRead) {
  constexpr std::size_t kBody = 12U << 20U;
  Loop loop(2);
  ServerOptions options = small_server();
  options.write_timeout = std::chrono::milliseconds(500);
  auto server = Server::start(loop, options, [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {}, std::string(kBody, 'x')});
  });
  ASSERT_TRUE(server);
  RawLink slow((*server)->port());
  RawLink silent((*server)->port());
  for (RawLink* link : {&slow, &silent}) {
    link->send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    link->read_until("\r\n\r\n");
  }
  constexpr std::size_t kRate = 800'000;
  EXPECT_TRUE(slow.read_slowly(std::chrono::milliseconds(1500), kRate));
  const auto [rest, error] = slow.read_to_end();
  EXPECT_EQ(rest.size(), kBody - kRate * 3 / 2);
  EXPECT_EQ(error, 0);
  EXPECT_LT(silent.read_to_end().first.size(), kBody);
}

TEST(Server, RefusesALargeBodyBeforeReadingIt) {
  Loop loop(1);
  auto server =
      Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) { exchange->respond({}); });
  ASSERT_TRUE(server);
  Client client(loop);
  auto answer = client.fetch(to(**server, "/", std::string(100'000, 'x')));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
  EXPECT_EQ(answer->body, "early");
}

// Neither is body, so the limit of the body does not end them.
TEST(Server, RefusesChunkExtensionsAndTrailersWithoutEnd) {
  Loop loop(1);
  auto server =
      Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) { exchange->respond({}); });
  ASSERT_TRUE(server);
  for (const std::string_view start : {"1;", "0\r\nx: "}) {
    RawLink link((*server)->port());
    link.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    link.send(start);
    for (int sent = 0; sent < 1024 && link.send(std::string(1024, 'x')); ++sent) {
    }
    EXPECT_NE(link.read_until("early").find(" 431 "), std::string::npos);
  }
  RawLink link((*server)->port());
  link.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(10'000, 'x') +
            "\r\na\r\n0\r\nx: y\r\n\r\n");
  EXPECT_NE(link.read_until("\r\n").find(" 200 "), std::string::npos);
}

TEST(Server, SendsNeitherBodyNorLengthWhereThereIsNone) {
  Loop loop(1);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({exchange->request().path == "/204" ? 204 : 200, {}, "body"});
  });
  ASSERT_TRUE(server);
  RawLink link((*server)->port());
  link.send("HEAD / HTTP/1.1\r\n\r\n");
  EXPECT_NE(link.read_until("\r\n\r\n").find("Content-Length: 4\r\n"), std::string::npos);
  link.send("HEAD /204 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string answer = link.read_to_end().first;
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 204 ")) << answer;
  EXPECT_EQ(answer.find("Content-Length"), std::string::npos) << answer;
}

TEST(Server, TellsTheHandlerThatTheClientIsGone) {
  Loop loop(2);
  std::promise<void> gone;
  std::promise<void> arrived;
  std::shared_ptr<Exchange> kept;
  auto server = Server::start(loop, small_server(), [&](std::shared_ptr<Exchange> exchange) {
    kept = exchange;
    exchange->on_gone([&] { gone.set_value(); });
    arrived.set_value();
  });
  ASSERT_TRUE(server);
  Client client(loop);
  auto call = client.start(to(**server, "/"), {});
  arrived.get_future().wait();
  call->cancel();
  auto future = gone.get_future();
  EXPECT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_TRUE(kept->gone());
  kept.reset();
}

// Its bytes hide the end of the stream behind them.
TEST(Server, NoticesAClientThatLeftUnreadBytesBehind) {
  Loop loop(2);
  std::promise<void> gone;
  std::promise<void> arrived;
  std::shared_ptr<Exchange> kept;
  auto server = Server::start(loop, small_server(), [&](std::shared_ptr<Exchange> exchange) {
    kept = exchange;
    exchange->on_gone([&] { gone.set_value(); });
    arrived.set_value();
  });
  ASSERT_TRUE(server);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons((*server)->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string_view request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  arrived.get_future().wait();
  ASSERT_EQ(send(fd, "early", 5, MSG_NOSIGNAL), 5);
  close(fd);
  auto future = gone.get_future();
  EXPECT_EQ(future.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  kept.reset();
}

// Whatever the call is doing at that moment, also nothing: a cancellation that falls between two operations
// was once lost.
TEST(Client, EndsACancelledCallAtOnceWhateverItIsDoing) {
  Loop loop(2);
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> kept;  // never answered
  auto server = Server::start(loop, small_server(), [&](std::shared_ptr<Exchange> exchange) {
    std::lock_guard lock(mutex);
    kept.push_back(std::move(exchange));
  });
  ASSERT_TRUE(server);
  Client client(loop);
  for (int i = 0; i < 300; ++i) {
    auto ended = std::make_shared<std::promise<bool>>();
    auto request = to(**server, "/", std::string(static_cast<std::size_t>(i), 'x'));
    request.answer_timeout = std::chrono::hours(1);
    auto call = client.start(std::move(request), {{}, {}, [ended](const std::optional<base::Error>& error) {
                                                    ended->set_value(error.has_value());
                                                  }});
    for (int spin = 0; spin < i * 20; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    call->cancel();
    auto future = ended->get_future();
    ASSERT_EQ(future.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "call " << i;
    EXPECT_TRUE(future.get());
  }
  std::lock_guard lock(mutex);
  kept.clear();
}

TEST(Server, AnswersForAHandlerThatDropsTheRequest) {
  Loop loop(1);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange>) {});
  ASSERT_TRUE(server);
  Client client(loop);
  auto answer = client.fetch(to(**server, "/"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 500);
}

TEST(Server, AnswersForAHandlerThatThrowsAndForgetsTheRequest) {
  Loop loop(1);
  std::shared_ptr<Exchange> kept;  // so that it is not the dropped handle that answers
  auto server = Server::start(loop, small_server(), [&](std::shared_ptr<Exchange> exchange) {
    kept = exchange;
    if (exchange->request().path == "/streamed") exchange->begin(200, {});
    throw std::runtime_error("a fault");
  });
  ASSERT_TRUE(server);
  Client client(loop);
  for (int i = 0; i < 2; ++i) {
    auto answer = client.fetch(to(**server, "/"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 500);
  }
  EXPECT_FALSE(client.fetch(to(**server, "/streamed")));
  std::promise<std::size_t> active;  // counted down on the loop after the last byte
  loop.post([&] { active.set_value((*server)->active_requests()); });
  EXPECT_EQ(active.get_future().get(), 0U);
  kept.reset();
}

// What the server says to `sent` on a bare connection that is then left open; all of it, to its close.
std::string say_slowly(const Server& server, const std::string& sent) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string heard;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, sent.data(), sent.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(sent.size())) {
    char part[4096];
    for (ssize_t got = 0; (got = recv(fd, part, sizeof part, 0)) > 0;)
      heard.append(part, static_cast<std::size_t>(got));
  }
  close(fd);
  return heard;
}

TEST(Server, TellsASlowClientThatItsTimeIsUp) {
  Loop loop(1);
  ServerOptions options = small_server();
  options.request_timeout = std::chrono::milliseconds(30);
  int handled = 0;
  auto server = Server::start(loop, options, [&](std::shared_ptr<Exchange>) { ++handled; });
  ASSERT_TRUE(server);
  for (const char* begun : {"POST / HT", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"}) {
    const std::string heard = say_slowly(**server, begun);
    EXPECT_EQ(heard.rfind("HTTP/1.1 408 ", 0), 0U) << heard;
    EXPECT_NE(heard.find("early"), std::string::npos);
  }
  EXPECT_EQ(handled, 0);
}

TEST(Server, NamesThePortThatIsInUse) {
  Loop loop(1);
  auto first = Server::start(loop, small_server(), [](std::shared_ptr<Exchange>) {});
  ASSERT_TRUE(first);
  ServerOptions options = small_server();
  options.port = (*first)->port();
  auto second = Server::start(loop, options, [](std::shared_ptr<Exchange>) {});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(std::to_string(options.port)), std::string::npos);
}

TEST(Server, AcceptsNothingMoreAfterStopAccepting) {
  Loop loop(1);
  auto server =
      Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) { exchange->respond({}); });
  ASSERT_TRUE(server);
  (*server)->stop_accepting();
  std::promise<void> ran;
  loop.post([&] { ran.set_value(); });
  ran.get_future().wait();
  Client client(loop);
  auto answer = client.fetch(to(**server, "/"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::ErrorCode::kUnavailable);
}

TEST(Client, WaitsForNoBodyAfterHead) {
  Loop loop(2);
  auto server = Server::start(loop, small_server(), [](std::shared_ptr<Exchange> exchange) {
    exchange->respond({200, {{"x-method", exchange->request().method}}, "what a GET would bring"});
  });
  ASSERT_TRUE(server);
  Client client(loop);
  auto head = to(**server, "/");
  head.method = "HEAD";
  const auto answer = client.fetch(head);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->headers.get("content-length"), "22");
  EXPECT_TRUE(answer->body.empty());
  const auto next = client.fetch(to(**server, "/"));  // over the same connection
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->body, "what a GET would bring");
}

TEST(Client, SaysSoWhenNobodyListens) {
  Loop loop(1);
  Client client(loop);
  ClientRequest request;
  request.port = 1;
  auto answer = client.fetch(request);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::ErrorCode::kUnavailable);
}

}  // namespace headroom::net
