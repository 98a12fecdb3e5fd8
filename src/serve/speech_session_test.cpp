// Requests of one session, their order and their ends, with a socket whose client takes what a test lets it.
#include "serve/speech_session.hpp"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace headroom::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Speaks at once.
class QuickEngine final : public engine::Engine {
 public:
  static constexpr std::size_t kSamples = 48'000;  // more than may wait for a client
  base::Result<std::vector<float>> synthesize(const engine::Segment&) override {
    ++spoken_;
    return std::vector<float>(kSamples, 0.1F);
  }
  int sample_rate() const override { return 24'000; }
  int workers() const override { return 1; }
  const std::vector<std::string>& voices() const override { return voices_; }
  std::string_view name() const override { return "quick"; }
  int spoken() const { return spoken_; }

 private:
  const std::vector<std::string> voices_{"af_heart"};
  std::atomic<int> spoken_{0};
};

base::Result<SpeechPlan> plan_one(const SpeechRequest&) {
  SpeechPlan plan;
  plan.segments.resize(1);
  return plan;
}

// Keeps what is sent until take_all().
class HeldSocket final : public net::WebSocket {
 public:
  std::function<void(const json& message)> on_text;  // before send_text() returns

  void send_text(std::string message) override {
    auto parsed = json::parse(message);
    if (on_text) on_text(parsed);
    std::lock_guard lock(mutex_);
    buffered_ += message.size();
    texts_.push_back(std::move(parsed));
    changed_.notify_all();
  }
  void send_binary(std::string message) override { fill(message.size()); }
  void close(std::uint16_t, std::string) override {}
  void cut() override { cut_ = true; }
  void pause() override {}
  void resume() override {}
  void set_busy(bool) override {}
  std::size_t buffered_bytes() const override {
    std::lock_guard lock(mutex_);
    return buffered_;
  }
  void on_drained(std::size_t limit, std::function<void()> callback) override {
    {
      std::lock_guard lock(mutex_);
      if (buffered_ > limit) {
        drained_.push_back(std::move(callback));
        return;
      }
    }
    callback();
  }

  void fill(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    buffered_ += bytes;
  }
  void take_all() {
    std::vector<std::function<void()>> ready;
    {
      std::lock_guard lock(mutex_);
      buffered_ = 0;
      ready.swap(drained_);
    }
    for (auto& callback : ready) callback();
  }
  // The last message of that request; null: it does not come.
  json wait_end(const std::string& id) {
    json found;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const json& text : texts_) {
        if (text["request_id"] == id && text["type"] != "synthesis_start") found = text;
      }
      return !found.is_null();
    });
    return found;
  }
  std::size_t texts() const {
    std::lock_guard lock(mutex_);
    return texts_.size();
  }
  bool is_cut() const { return cut_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t buffered_ = 0;
  std::vector<json> texts_;
  std::vector<std::function<void()>> drained_;
  std::atomic<bool> cut_{false};
};

class SpeechSessionTest : public testing::Test {
 protected:
  SpeechSessionTest() { session_ = make_session(context_, socket_, "session", events_); }
  ~SpeechSessionTest() override {
    text_loop_.stop();
    scheduler_.stop();
    loop_.stop();
  }
  void say(const std::string& message) { events_.on_message(message, true); }
  void speak(const std::string& id) { say(R"({"text":"words","request_id":")" + id + "\"}"); }
  // Returns when the threads have done all that could be done.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      std::promise<void> read;
      text_loop_.post([&] { read.set_value(); });
      read.get_future().wait();
      std::promise<void> spoken;
      scheduler_.submit(base::SteadyTime::max(), ~std::uint64_t{0}, [&] { spoken.set_value(); });
      spoken.get_future().wait();
    }
  }

  QuickEngine engine_;
  Metrics metrics_{{"quick", 1, false}};
  Scheduler scheduler_{1, Order::kEarliestDeadline};
  net::Loop loop_;
  net::Loop text_loop_;
  Admission admission_{0, base::SystemClock::instance()};
  JobContext jobs_{engine_,
                   plan_one,
                   scheduler_,
                   loop_,
                   metrics_,
                   base::SystemClock::instance(),
                   engine_.voices(),
                   {1000, 1U << 20U},
                   std::chrono::seconds(3),
                   std::chrono::seconds(60),
                   false};
  std::atomic<std::uint64_t> number_{0};
  SessionContext context_{jobs_, admission_, text_loop_, [this] { return number_++; },
                          [] { return std::optional<ApiFailure>(); }};
  std::shared_ptr<HeldSocket> socket_ = std::make_shared<HeldSocket>();
  net::WsEvents events_;
  std::shared_ptr<SpeechSession> session_;
};

// Collects the lines of the log while it lives.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_)));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  std::string text() const { return lines_.str(); }

 private:
  std::ostringstream lines_;
  const std::shared_ptr<spdlog::logger> before_;
};

}  // namespace

// A finished request counts nowhere: what is made of the next ones would lie in memory without a bound.
TEST_F(SpeechSessionTest, TheNextRequestWaitsUntilTheClientHasTakenTheLast) {
  for (const char* id : {"a", "b", "c"}) speak(id);
  EXPECT_EQ(socket_->wait_end("a")["type"], "synthesis_complete");
  settle();
  speak("d");  // whenever it comes
  settle();
  EXPECT_EQ(engine_.spoken(), 1);
  EXPECT_EQ(admission_.outstanding(), 3U);
  int spoken = 1;
  for (const char* id : {"b", "c", "d"}) {
    socket_->take_all();
    EXPECT_EQ(socket_->wait_end(id)["type"], "synthesis_complete");
    settle();
    EXPECT_EQ(engine_.spoken(), ++spoken);
  }
  EXPECT_EQ(admission_.outstanding(), 0U);
}

TEST_F(SpeechSessionTest, ARequestThatFollowsTheLastMessageFindsItsIdFree) {
  std::future<void> next;
  socket_->on_text = [&](const json& message) {
    if (message["type"] != "synthesis_complete" || next.valid()) return;
    next = std::async(std::launch::async, [&] { speak("a"); });
    next.wait_for(std::chrono::milliseconds(200));  // its client is as fast as that
  };
  speak("a");
  EXPECT_EQ(socket_->wait_end("a")["type"], "synthesis_complete");
  next.wait();
  socket_->take_all();
  settle();
  EXPECT_EQ(engine_.spoken(), 2);
  EXPECT_EQ(socket_->texts(), 4U);  // two starts, two ends and no error
}

TEST_F(SpeechSessionTest, EveryRequestThatEndsHasItsLine) {
  const LogLines log;
  socket_->fill(kBufferedLimit + 1);  // nothing starts
  say(R"({"text":"words","request_id":"fields","speed":99})");
  say(R"({"type":"text","request_id":"blank","text":" ","final":true})");
  say(R"({"type":"text","request_id":"piece","text":"words"})");
  say(R"({"type":"text","request_id":"piece","text":7})");
  EXPECT_EQ(socket_->wait_end("piece")["type"], "error");
  speak("cancelled");
  say(R"({"type":"cancel","request_id":"cancelled"})");
  speak("aborted");
  events_.on_close({});
  settle();
  EXPECT_EQ(engine_.spoken(), 0);
  const std::string line = " route=/invocations-bidirectional-stream outcome=";
  EXPECT_THAT(log.text(), HasSubstr("id=fields" + line + "rejected error=invalid_speed"));
  EXPECT_THAT(log.text(), HasSubstr("id=blank" + line + "rejected error=missing_text"));
  EXPECT_THAT(log.text(), HasSubstr("id=piece" + line + "rejected error=missing_text"));
  EXPECT_THAT(log.text(), HasSubstr("id=cancelled" + line + "cancelled"));
  EXPECT_THAT(log.text(), HasSubstr("id=aborted" + line + "aborted"));
}

TEST_F(SpeechSessionTest, CutsWhoCancelsAndNeverListens) {
  const LogLines quiet;
  socket_->fill(kBufferedLimit + 1);
  for (int i = 0; i < 2000 && !socket_->is_cut(); ++i) {
    speak("a");
    say(R"({"type":"cancel","request_id":"a"})");
  }
  EXPECT_TRUE(socket_->is_cut());
}

}  // namespace headroom::serve
