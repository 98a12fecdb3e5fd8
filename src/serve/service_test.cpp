// Routes and the life of an instance, over real sockets with a hand-held engine.
#include "serve/service.hpp"

#include <condition_variable>
#include <future>
#include <map>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "audio/pcm.hpp"
#include "net/client.hpp"
#include "serve/planner.hpp"

namespace headroom::serve {
namespace {

// Speaks only when allowed; fails when told to.
class HeldEngine final : public engine::Engine {
 public:
  base::Result<std::vector<float>> synthesize(const engine::Segment&) override {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_ > 0; });
    --allowed_;
    if (throw_) throw std::runtime_error("secret detail");
    if (fail_) return base::fail(base::ErrorCode::kInternal, "secret detail");
    return std::vector<float>(2400, 0.1F);
  }
  int sample_rate() const override { return 24000; }
  int workers() const override { return 1; }
  const std::vector<std::string>& voices() const override { return voices_; }
  std::string_view name() const override { return "held"; }

  void allow(int n) {
    std::lock_guard lock(mutex_);
    allowed_ += n;
    changed_.notify_all();
  }
  void fail_from_now() {
    std::lock_guard lock(mutex_);
    fail_ = true;
  }
  void throw_from_now() {
    std::lock_guard lock(mutex_);
    throw_ = true;
  }
  int entered() {
    std::lock_guard lock(mutex_);
    return entered_;
  }
  void wait_entered(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entered_ >= n; });
  }

 private:
  const std::vector<std::string> voices_{"af_heart"};
  std::mutex mutex_;
  std::condition_variable changed_;
  int allowed_ = 0;
  int entered_ = 0;
  bool fail_ = false;
  bool throw_ = false;
};

// Each word is a segment.
base::Result<SpeechPlan> plan_words(const SpeechRequest& request) {
  if (request.text == "throw in the planner") throw std::bad_alloc();
  SpeechPlan plan;
  std::size_t words = 1 + static_cast<std::size_t>(std::count(request.text.begin(), request.text.end(), ' '));
  plan.segments.resize(words);
  return plan;
}

class ServiceTest : public testing::Test {
 protected:
  void start(ServiceOptions options = {}) {
    service_ = std::make_unique<Service>(loop_, base::SystemClock::instance(), options);
    server_ =
        std::move(*net::Server::start(loop_, {}, [this](auto exchange) { service_->handle(exchange); }));
    client_ = std::make_unique<net::Client>(loop_);
  }
  void ready() {
    auto engine = std::make_unique<HeldEngine>();
    engine_ = engine.get();
    service_->become_ready(std::move(engine), plan_words, {});
  }
  void TearDown() override {
    if (engine_) engine_->allow(1000);
    service_->drain(std::chrono::seconds(10));
    loop_.stop();
  }
  net::ClientRequest request(std::string method, std::string target, std::string body = {}) {
    net::ClientRequest out;
    out.port = server_->port();
    out.method = std::move(method);
    out.target = std::move(target);
    out.body = std::move(body);
    return out;
  }
  net::Response fetch(std::string method, std::string target, std::string body = {}) {
    auto answer = client_->fetch(request(std::move(method), std::move(target), std::move(body)));
    EXPECT_TRUE(answer);
    return answer ? *answer : net::Response{};
  }

  net::Loop loop_{2};
  std::unique_ptr<Service> service_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
  HeldEngine* engine_ = nullptr;
};

}  // namespace

TEST_F(ServiceTest, PingTellsStartingReadyAndDraining) {
  start();
  EXPECT_EQ(fetch("GET", "/ping").status, 503);
  ready();
  EXPECT_EQ(fetch("GET", "/ping").status, 200);
  service_->drain(std::chrono::seconds(1));
  const auto draining = fetch("GET", "/ping");
  EXPECT_EQ(draining.status, 503);
  EXPECT_NE(draining.body.find("draining"), std::string::npos);
}

TEST_F(ServiceTest, SpeaksAWholeWavWithTrueSizes) {
  start();
  ready();
  engine_->allow(2);
  const auto answer = fetch("POST", "/invocations", R"({"text":"two words"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.get("content-type"), "audio/wav");
  const auto size = static_cast<std::uint32_t>(answer.body.size() - audio::kWavHeaderBytes);
  EXPECT_EQ(answer.body.substr(40, 4), std::string(reinterpret_cast<const char*>(&size), 4));
  EXPECT_FALSE(answer.headers.get("server-timing").empty());
  EXPECT_NE(fetch("GET", "/metrics").body.find("headroom_ttfab_seconds_count 1\n"), std::string::npos);
}

TEST_F(ServiceTest, EndsAWholeAnswerThatGrowsTooLargeAndSaysHowToGetIt) {
  start({.max_answer_bytes = 10'000});
  ready();
  engine_->allow(1000);
  const std::string text = "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n";
  for (const char* format : {"wav", "mp3"}) {  // one grows here, the other in its encoder
    const int before = engine_->entered();
    const std::string body = R"({"text":")" + text + R"(","format":")" + format + '"';
    const auto refused = fetch("POST", "/invocations", body + "}");
    EXPECT_EQ(refused.status, 413) << format;
    EXPECT_NE(refused.body.find("answer_too_large"), std::string::npos);
    EXPECT_NE(refused.body.find("stream"), std::string::npos);
    EXPECT_LT(engine_->entered() - before, 40) << format;  // the rest is not spoken
    EXPECT_EQ(fetch("POST", "/invocations", body + R"(,"stream":true})").status, 200);
  }
  EXPECT_EQ(fetch("POST", "/invocations", R"({"text":"two words"})").status, 200);
}

TEST_F(ServiceTest, RefusesOneRequestAboveTheLimitAtOnce) {
  start({.max_queue_depth = 1});
  ready();
  std::promise<void> ended;
  client_->start(request("POST", "/invocations", R"({"text":"held"})"),
                 {{}, {}, [&](auto) { ended.set_value(); }});
  engine_->wait_entered(1);
  const auto refused = fetch("POST", "/invocations", "this is not even JSON");
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("queue_saturated"), std::string::npos);
  EXPECT_FALSE(refused.headers.get("retry-after").empty());
  engine_->allow(1);
  ended.get_future().wait();
}

TEST_F(ServiceTest, FailsWithAStatusBeforeTheFirstAudioAndBreaksOffAfterIt) {
  start();
  ready();
  engine_->fail_from_now();
  engine_->allow(1);
  const auto early = fetch("POST", "/invocations", R"({"text":"one","stream":true})");
  EXPECT_EQ(early.status, 500);
  EXPECT_EQ(early.body.find("secret"), std::string::npos);
}

TEST_F(ServiceTest, AnExceptionEndsTheRequestNotTheProcess) {
  start();
  ready();
  engine_->throw_from_now();
  engine_->allow(1);
  const auto answer = fetch("POST", "/invocations", R"({"text":"one"})");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  EXPECT_EQ(fetch("POST", "/invocations", R"({"text":"throw in the planner"})").status, 500);
  EXPECT_EQ(fetch("GET", "/ping").status, 200);
}

TEST_F(ServiceTest, BreaksOffAStreamThatFailsInTheMiddle) {
  start();
  ready();
  std::promise<std::optional<base::Error>> ended;
  std::promise<void> first;
  bool told = false;
  client_->start(request("POST", "/invocations", R"({"text":"one two","stream":true})"),
                 {{},
                  [&](std::string_view) {
                    if (!std::exchange(told, true)) first.set_value();
                  },
                  [&](std::optional<base::Error> error) { ended.set_value(std::move(error)); }});
  engine_->allow(1);
  first.get_future().wait();
  engine_->fail_from_now();
  engine_->allow(1);
  EXPECT_TRUE(ended.get_future().get().has_value());
  // Its first audio came in time, and yet it is no latency of a success.
  const auto metrics = fetch("GET", "/metrics").body;
  EXPECT_NE(metrics.find("headroom_ttfab_seconds_count 0\n"), std::string::npos);
  EXPECT_NE(metrics.find(R"(outcome="failed",route="/invocations"} 1)"), std::string::npos) << metrics;
}

TEST_F(ServiceTest, WhatADrainingInstanceRefusesIsCountedAsOffered) {
  start();
  ready();
  service_->drain(std::chrono::seconds(1));
  EXPECT_NE(fetch("POST", "/invocations", R"({"text":"late"})").body.find("draining"), std::string::npos);
  const auto metrics = fetch("GET", "/metrics").body;
  EXPECT_NE(metrics.find(R"(headroom_requests_offered_total{route="/invocations"} 1)"), std::string::npos);
  EXPECT_NE(metrics.find(R"(headroom_rejections_total{reason="draining"} 1)"), std::string::npos) << metrics;
}

TEST_F(ServiceTest, DropsTheSegmentsOfAClientThatLeft) {
  start();
  ready();
  auto call = client_->start(request("POST", "/invocations", R"({"text":"a b c d","stream":true})"), {});
  engine_->wait_entered(1);
  call->cancel();
  EXPECT_TRUE(
      service_->drain(std::chrono::seconds(10)));  // counted out although its first segment is still running
  engine_->allow(1000);
}

TEST_F(ServiceTest, KnowsItsRoutesAndMethods) {
  start();
  ready();
  EXPECT_EQ(fetch("GET", "/nothing").status, 404);
  EXPECT_EQ(fetch("GET", "/invocations").status, 405);
  EXPECT_EQ(fetch("POST", "/ping", "x").headers.get("allow"), "GET, HEAD");
  EXPECT_EQ(fetch("GET", "http://any.example/ping").status, 200);
  const auto metrics = fetch("GET", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("headroom_outstanding_requests 0"), std::string::npos);
}

}  // namespace headroom::serve
