// Tests of the control-plane Transport: wire form, errors by protocol, retries, deadlines.
#include "aws/transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/api_error.hpp"
#include "aws/test_server.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using test::plain_answer;
using test::RawRequest;
using test::TestServer;
using test::write_all;
using testing::HasSubstr;

class TransportTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RuntimeOptions options;
    options.trace_memory = true;
    runtime_ = std::move(*Runtime::start(options));
  }
  static void TearDownTestSuite() { EXPECT_EQ(Runtime::stop(std::move(runtime_)), 0u); }

  static std::unique_ptr<Transport> transport(const std::string& url) {
    Settings settings;
    settings.region = "us-east-1";
    settings.endpoints.fill(*parse_endpoint_url(url));
    TransportOptions options;
    options.attempts = 3;
    options.backoff = std::chrono::milliseconds{1};
    return make_transport(*runtime_, settings, Credentials::fixed(*runtime_, "local", "local", "token"),
                          base::SystemClock::instance(), options);
  }
  static ApiRequest request(Service service = Service::kSageMaker) {
    ApiRequest out;
    out.service = service;
    out.operation = "DescribeEndpoint";
    out.body = "{}";
    out.resource = "speech";
    out.deadline = base::Deadline::after(base::SystemClock::instance(), std::chrono::seconds{10});
    return out;
  }
  static std::unique_ptr<Runtime> runtime_;
};
std::unique_ptr<Runtime> TransportTest::runtime_;

TEST_F(TransportTest, SignsAndNamesTheOperation) {
  RawRequest got;
  TestServer server([&](int fd, const RawRequest& r) {
    got = r;
    write_all(fd, plain_answer(200, "", "{\"a\":1}"));
    return true;
  });
  auto client = transport(server.url());
  const auto answer = client->send(request());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "{\"a\":1}");
  EXPECT_EQ(got.line(), "POST / HTTP/1.1");
  EXPECT_EQ(got.header("x-amz-target"), "SageMaker.DescribeEndpoint");
  EXPECT_EQ(got.header("content-type"), "application/x-amz-json-1.1");
  EXPECT_EQ(got.header("x-amz-security-token"), "token");
  EXPECT_THAT(got.header("authorization"), HasSubstr("/us-east-1/sagemaker/aws4_request"));
  ASSERT_TRUE(client->send(request(Service::kCloudWatch)));
  EXPECT_EQ(got.header("content-type"), "application/x-amz-json-1.0");
  EXPECT_EQ(got.header("x-amzn-query-mode"), "true");
  EXPECT_THAT(got.header("authorization"), HasSubstr("/monitoring/"));
}

TEST_F(TransportTest, RetriesThrottlingUntilItIsServed) {
  std::atomic<int> calls{0};
  TestServer server([&](int fd, const RawRequest&) {
    write_all(fd, ++calls < 3
                      ? plain_answer(400, "", R"({"__type":"ThrottlingException","message":"slow down"})")
                      : plain_answer(200, "", "{}"));
    return true;
  });
  EXPECT_TRUE(transport(server.url())->send(request()));
  EXPECT_EQ(calls, 3);
}

TEST_F(TransportTest, DoesNotRepeatWhatMayNotBeRepeated) {
  std::atomic<int> calls{0};
  TestServer server([&](int fd, const RawRequest&) {
    ++calls;
    write_all(fd, plain_answer(500, "", R"({"__type":"InternalFailure"})"));
    return true;
  });
  ApiRequest once = request();
  once.repeatable = false;
  EXPECT_FALSE(transport(server.url())->send(once));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(transport(server.url())->send(request()));
  EXPECT_EQ(calls, 4);
}

TEST_F(TransportTest, SurvivesAConnectionThatIsClosedOnce) {
  std::atomic<int> calls{0};
  TestServer server([&](int fd, const RawRequest&) {
    if (++calls == 1) return false;
    write_all(fd, plain_answer(200, "", "{}"));
    return true;
  });
  EXPECT_TRUE(transport(server.url())->send(request()));
}

TEST_F(TransportTest, NamesOperationResourceAndCode) {
  TestServer server([&](int fd, const RawRequest&) {
    write_all(fd,
              plain_answer(400, "",
                           R"({"__type":"com.x#ValidationException","message":"Could not find endpoint"})"));
    return true;
  });
  const auto answer = transport(server.url())->send(request());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(answer.error().message, "DescribeEndpoint of 'speech': Could not find endpoint");
  EXPECT_EQ(answer.error().context, "ValidationException");
}

TEST_F(TransportTest, SaysWhereNobodyListens) {
  const auto answer = transport("http://127.0.0.1:1")->send(request());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1"));
}

TEST_F(TransportTest, StopsAtTheDeadline) {
  TestServer server([&](int, const RawRequest&) { return true; });  // never answers
  ApiRequest hurried = request();
  hurried.deadline = base::Deadline::after(base::SystemClock::instance(), std::chrono::milliseconds{80});
  const auto answer = transport(server.url())->send(hurried);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

std::optional<std::string> no_header(std::string_view) { return std::nullopt; }

TEST(ApiError, ReadsEveryProtocol) {
  const auto xml = parse_api_error(
      403, no_header,
      "<ErrorResponse><Error><Code>AccessDenied</Code><Message>a &lt; b</Message></Error></ErrorResponse>");
  EXPECT_EQ(xml.code, "AccessDenied");
  EXPECT_EQ(xml.message, "a < b");
  const auto query = parse_api_error(
      400,
      [](std::string_view name) -> std::optional<std::string> {
        if (name == "x-amzn-query-error") return "InvalidParameterValue;Sender";
        return std::nullopt;
      },
      R"({"__type":"com.amazonaws.cloudwatch#InvalidParameterValueException","message":"m"})");
  EXPECT_EQ(query.code, "InvalidParameterValue");
  const auto rest = parse_api_error(
      429,
      [](std::string_view name) -> std::optional<std::string> {
        if (name == "x-amzn-errortype") return "ModelNotReadyException:http://x/";
        return std::nullopt;
      },
      R"({"Message":"wait"})");
  EXPECT_EQ(rest.code, "ModelNotReadyException");
  EXPECT_EQ(rest.message, "wait");
  EXPECT_TRUE(rest.throttled);
  const auto proxy = parse_api_error(502, no_header, "bad gateway");
  EXPECT_EQ(proxy.code, "HTTP 502");
  EXPECT_TRUE(proxy.transient);
  EXPECT_EQ(parse_api_error(400, no_header, "").message, "the service gave no reason");
}

TEST(ApiError, MapsCodes) {
  EXPECT_EQ(error_code_for(400, "ObjectNotFoundException", ""), ErrorCode::kNotFound);
  EXPECT_EQ(error_code_for(400, "ResourceLimitExceeded", ""), ErrorCode::kResourceExhausted);
  EXPECT_EQ(error_code_for(400, "ValidationException", "Cannot update in-progress endpoint"),
            ErrorCode::kConflict);
  EXPECT_EQ(error_code_for(400, "ValidationException", "1 validation error"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_code_for(403, "SignatureDoesNotMatch", ""), ErrorCode::kUnauthenticated);
  EXPECT_EQ(error_code_for(500, "InternalFailure", ""), ErrorCode::kRemote);
}

}  // namespace
}  // namespace headroom::aws
