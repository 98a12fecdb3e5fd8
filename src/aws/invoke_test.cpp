// Tests of the Invoker against a raw server that puts each kind of answer and fault on the wire.
#include "aws/invoke.hpp"

#include <cstdlib>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/event_frame.hpp"
#include "aws/test_server.hpp"

namespace headroom::aws {
namespace {

using test::chunk;
using test::plain_answer;
using test::RawRequest;
using test::TestServer;
using test::write_all;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\nTransfer-Encoding: chunked\r\n"
    "X-Amzn-SageMaker-Content-Type: audio/wav\r\nx-Amzn-Invoked-Production-Variant: AllTraffic\r\n"
    "x-amzn-RequestId: r-1\r\n\r\n";

std::string part(const std::string& payload) {
  return encode_event_frame({{{":event-type", "PayloadPart"},
                              {":content-type", "application/octet-stream"},
                              {":message-type", "event"}},
                             payload});
}

std::string exception(const std::string& type, const std::string& payload) {
  return encode_event_frame(
      {{{":exception-type", type}, {":content-type", "application/json"}, {":message-type", "exception"}},
       payload});
}

// What the callbacks saw of one request.
struct Seen {
  std::promise<InvokeResult> done;
  std::string bytes;
  int pieces = 0;
  int connected = 0;
  base::SteadyTime first{};
  base::SteadyTime end{};
};

class InvokerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RuntimeOptions options;
    options.trace_memory = true;
    runtime_ = std::move(*Runtime::start(options));
  }
  // The libraries must give back every byte after all that happened above.
  static void TearDownTestSuite() { EXPECT_EQ(Runtime::stop(std::move(runtime_)), 0u); }

  std::unique_ptr<Invoker> invoker(const std::string& url, InvokeTransport transport,
                                   std::size_t connections = 4) {
    Settings settings;
    settings.region = "us-east-1";
    settings.endpoints.fill(*parse_endpoint_url(url));
    InvokerOptions options;
    options.transport = transport;
    options.endpoint = "speech";
    options.target_variant = "AllTraffic";
    options.url = url + "/invocations";
    options.connections = connections;
    auto made = Invoker::make(*runtime_, settings, Credentials::fixed(*runtime_, "local", "local"), options);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  static std::uint64_t start(Invoker& invoker, Seen& seen,
                             base::Duration timeout = std::chrono::seconds{10}) {
    InvokeRequest request;
    request.body = R"({"text":"hello"})";
    request.accept = "audio/wav";
    request.timeout = timeout;
    InvokeEvents events;
    events.on_connected = [&seen](base::SteadyTime) { ++seen.connected; };
    events.on_data = [&seen](base::SteadyTime at, std::string_view bytes) {
      if (seen.pieces++ == 0) seen.first = at;
      seen.bytes += bytes;
    };
    events.on_done = [&seen](base::SteadyTime at, const InvokeResult& result) {
      seen.end = at;
      seen.done.set_value(result);
    };
    return invoker.start(std::move(request), std::move(events));
  }

  static InvokeResult wait(Seen& seen) {
    auto future = seen.done.get_future();
    if (future.wait_for(std::chrono::seconds{20}) != std::future_status::ready) {
      ADD_FAILURE() << "the request never ended";
      return {};
    }
    return future.get();
  }

  // One request against a server that always writes `answer` and then keeps or closes the connection.
  InvokeResult once(const std::string& answer, bool keep, InvokeTransport transport, Seen& seen) {
    TestServer server([&](int fd, const RawRequest&) {
      write_all(fd, answer);
      return keep;
    });
    auto client = invoker(server.url(), transport);
    start(*client, seen);
    return wait(seen);
  }

  static std::unique_ptr<Runtime> runtime_;
};
std::unique_ptr<Runtime> InvokerTest::runtime_;

TEST_F(InvokerTest, ReadsACleanStream) {
  Seen seen;
  const auto result = once(kStreamHead + chunk(part("RIFF") + part("")) + chunk(part("data")) + "0\r\n\r\n",
                           true, InvokeTransport::kResponseStream, seen);
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.error;
  EXPECT_EQ(seen.bytes, "RIFFdata");
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.content_type, "audio/wav");
  EXPECT_EQ(result.variant, "AllTraffic");
  EXPECT_EQ(result.server_request_id, "r-1");
  EXPECT_EQ(seen.connected, 1);
  EXPECT_LE(seen.first, seen.end);
}

TEST_F(InvokerTest, SendsASignedRequestToTheRightRoute) {
  RawRequest got;
  TestServer server([&](int fd, const RawRequest& request) {
    got = request;
    write_all(fd, kStreamHead + chunk(part("x")) + "0\r\n\r\n");
    return true;
  });
  auto client = invoker(server.url(), InvokeTransport::kResponseStream);
  Seen seen;
  start(*client, seen);
  EXPECT_EQ(wait(seen).outcome, Outcome::kOk);
  EXPECT_EQ(got.line(), "POST /endpoints/speech/invocations-response-stream HTTP/1.1");
  EXPECT_EQ(got.header("x-amzn-sagemaker-accept"), "audio/wav");
  EXPECT_EQ(got.header("x-amzn-sagemaker-target-variant"), "AllTraffic");
  EXPECT_EQ(got.header("host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_THAT(got.header("authorization"), StartsWith("AWS4-HMAC-SHA256 Credential=local/"));
  EXPECT_THAT(got.header("authorization"), HasSubstr("/us-east-1/sagemaker/aws4_request"));
  EXPECT_EQ(got.body, R"({"text":"hello"})");
}

TEST_F(InvokerTest, ReadsFramesThatStraddleChunks) {
  const std::string frames = part("first") + part("second");
  std::string answer = kStreamHead;
  for (std::size_t i = 0; i < frames.size(); i += 7) answer += chunk(frames.substr(i, 7));
  Seen seen;
  EXPECT_EQ(once(answer + "0\r\n\r\n", true, InvokeTransport::kResponseStream, seen).outcome, Outcome::kOk);
  EXPECT_EQ(seen.bytes, "firstsecond");
}

TEST_F(InvokerTest, TakesATruncatedLastFrameAsAFailure) {
  const std::string frame = part("second");
  for (std::size_t cut : {frame.size() - 1, frame.size() - 10, std::size_t{5}}) {
    Seen seen;
    const auto result = once(kStreamHead + chunk(part("first") + frame.substr(0, cut)) + "0\r\n\r\n", true,
                             InvokeTransport::kResponseStream, seen);
    EXPECT_EQ(result.outcome, Outcome::kFailed) << cut;
    EXPECT_THAT(result.error, HasSubstr("truncated"));
  }
}

TEST_F(InvokerTest, TakesABadChecksumAsAFailure) {
  std::string frame = part("first");
  frame.back() = static_cast<char>(frame.back() ^ 1);
  Seen seen;
  const auto result =
      once(kStreamHead + chunk(frame) + "0\r\n\r\n", true, InvokeTransport::kResponseStream, seen);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.error, HasSubstr("CHECKSUM"));
}

TEST_F(InvokerTest, TakesAnExceptionFrameAsAFailureWithItsType) {
  Seen seen;
  const auto result =
      once(kStreamHead + chunk(part("half")) +
               chunk(exception("ModelStreamError", R"({"Message":"gone","ErrorCode":"StreamBroken"})")) +
               "0\r\n\r\n",
           true, InvokeTransport::kResponseStream, seen);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(result.error, "ModelStreamError StreamBroken: gone");
  EXPECT_EQ(seen.bytes, "half");
}

TEST_F(InvokerTest, TakesACutConnectionAsAFailure) {
  Seen seen;
  const auto result = once(kStreamHead + chunk(part("half")), false, InvokeTransport::kResponseStream, seen);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.error, StartsWith("AWS_"));
}

TEST_F(InvokerTest, TellsAFullQueueFromOtherModelErrors) {
  const auto answer = [](const std::string& code, int original) {
    return plain_answer(424, "x-amzn-ErrorType: ModelError\r\nContent-Type: application/json\r\n",
                        R"({"Message":"no","OriginalStatusCode":)" + std::to_string(original) +
                            R"(,"OriginalMessage":"{\"error\":{\"code\":\")" + code +
                            R"(\",\"message\":\"m\"}}"})");
  };
  Seen full, draining, broken;
  const auto refused = once(answer("queue_saturated", 503), true, InvokeTransport::kResponseStream, full);
  EXPECT_EQ(refused.outcome, Outcome::kRejected);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.error, "ModelError 503 queue_saturated: m");
  EXPECT_EQ(once(answer("draining", 503), true, InvokeTransport::kResponseStream, draining).outcome,
            Outcome::kFailed);
  EXPECT_EQ(once(answer("internal", 500), true, InvokeTransport::kResponseStream, broken).outcome,
            Outcome::kFailed);
}

TEST_F(InvokerTest, TakesAnEmptySuccessAsAFailure) {
  Seen stream, plain;
  EXPECT_EQ(once(kStreamHead + "0\r\n\r\n", true, InvokeTransport::kResponseStream, stream).outcome,
            Outcome::kFailed);
  EXPECT_EQ(once(plain_answer(200, "", ""), true, InvokeTransport::kHttp, plain).outcome, Outcome::kFailed);
}

TEST_F(InvokerTest, SpeaksPlainHttpUnsigned) {
  RawRequest got;
  TestServer server([&](int fd, const RawRequest& request) {
    got = request;
    write_all(fd, plain_answer(200, "x-request-id: q7\r\nContent-Type: audio/wav\r\n", "RIFF"));
    return true;
  });
  auto client = invoker(server.url(), InvokeTransport::kHttp);
  Seen seen;
  start(*client, seen);
  const auto result = wait(seen);
  EXPECT_EQ(result.outcome, Outcome::kOk) << result.error;
  EXPECT_EQ(result.server_request_id, "q7");
  EXPECT_EQ(got.line(), "POST /invocations HTTP/1.1");
  EXPECT_EQ(got.header("authorization"), "");
}

TEST_F(InvokerTest, ReusesWarmConnections) {
  TestServer server([&](int fd, const RawRequest&) {
    write_all(fd, kStreamHead + chunk(part("x")) + "0\r\n\r\n");
    return true;
  });
  auto client = invoker(server.url(), InvokeTransport::kResponseStream, 3);
  ASSERT_TRUE(client->warm(3, base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{5})));
  // The kernel completes a connect before the server's thread accepts it.
  while (server.accepted() < 3) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    Seen seen;
    start(*client, seen);
    EXPECT_EQ(wait(seen).outcome, Outcome::kOk);
  }
  EXPECT_EQ(server.accepted(), 3);
}

TEST_F(InvokerTest, TimesOutOnItsOwn) {
  TestServer server([&](int fd, const RawRequest&) {
    write_all(fd, kStreamHead + chunk(part("x")));  // and never another byte
    return true;
  });
  auto client = invoker(server.url(), InvokeTransport::kResponseStream);
  Seen seen;
  start(*client, seen, std::chrono::milliseconds{100});
  EXPECT_EQ(wait(seen).outcome, Outcome::kTimedOut);
  EXPECT_EQ(seen.bytes, "x");
}

TEST_F(InvokerTest, CancelEndsARequestAsAborted) {
  std::promise<void> asked;
  TestServer server([&](int, const RawRequest&) {
    asked.set_value();
    return true;
  });
  auto client = invoker(server.url(), InvokeTransport::kResponseStream);
  Seen seen;
  const std::uint64_t id = start(*client, seen);
  asked.get_future().wait();
  client->cancel(id);
  EXPECT_EQ(wait(seen).outcome, Outcome::kAborted);
}

// Leaves a request open, ends the invoker and the runtime, and only then lets the answer's connection close.
bool late_callback_comes_after_the_end() {
  std::promise<void> go_on;
  std::promise<void> ended;
  {
    TestServer server([gate = go_on.get_future().share()](int, const RawRequest&) {
      gate.wait();
      return false;
    });
    auto runtime = std::move(*Runtime::start());
    InvokerOptions options;
    options.transport = InvokeTransport::kHttp;
    options.url = server.url() + "/invocations";
    options.close_patience = std::chrono::milliseconds{20};
    auto client = std::move(*Invoker::make(*runtime, Settings{}, nullptr, options));
    InvokeEvents events;
    events.on_done = [&ended](base::SteadyTime, const InvokeResult&) { ended.set_value(); };
    client->start({.body = "{}"}, std::move(events));
    client.reset();
    runtime.reset();
    go_on.set_value();
  }
  return ended.get_future().wait_for(std::chrono::seconds{20}) == std::future_status::ready;
}

// In a process of its own, because the runtime it leaves behind would keep the others from ending.
TEST(InvokerEndDeathTest, DoesNotWaitForARequestThatNeverEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(late_callback_comes_after_the_end() ? 0 : 1), testing::ExitedWithCode(0),
              "did not end although they were cancelled; left behind");
}

TEST_F(InvokerTest, SaysThatNobodyListens) {
  auto client = invoker("http://127.0.0.1:1", InvokeTransport::kResponseStream);
  Seen seen;
  start(*client, seen);
  const auto result = wait(seen);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.error, HasSubstr("REFUSED"));
  const auto warm =
      client->warm(2, base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{5}));
  ASSERT_FALSE(warm);
  EXPECT_THAT(warm.error().message, HasSubstr("cannot connect to http://127.0.0.1:1"));
}

TEST_F(InvokerTest, SaysHowManyDescriptorsAreMissing) {
  Settings settings;
  InvokerOptions options;
  options.transport = InvokeTransport::kHttp;
  options.url = "http://127.0.0.1:1/x";
  options.connections = 100'000'000;
  const auto made = Invoker::make(*runtime_, settings, nullptr, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::kResourceExhausted);
  EXPECT_THAT(made.error().message, HasSubstr("ulimit -n"));
}

TEST_F(InvokerTest, SaysHowManyLocalPortsAreMissing) {
  InvokerOptions options;
  options.transport = InvokeTransport::kHttp;
  options.url = "http://127.0.0.1:1/x";
  options.connections = 101;
  options.limits = {.descriptors = 10'000, .local_ports = 100};
  const auto made = Invoker::make(*runtime_, Settings{}, nullptr, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::kResourceExhausted);
  EXPECT_THAT(made.error().message, HasSubstr("local ports"));
}

TEST_F(InvokerTest, RefusesRealKeysOverPlainHttpToAnotherMachine) {
  Settings settings;
  settings.region = "us-east-1";
  settings.endpoints.fill(*parse_endpoint_url("http://example.com"));
  InvokerOptions options;
  options.endpoint = "speech";
  const auto real = Invoker::make(*runtime_, settings,
                                  Credentials::fixed(*runtime_, "AKIDABCDEFGHIJKLMNOP", "secret"), options);
  ASSERT_FALSE(real);
  EXPECT_EQ(real.error().code, base::ErrorCode::kRefused);
  EXPECT_THAT(real.error().message, HasSubstr("plain http"));
}

}  // namespace
}  // namespace headroom::aws
