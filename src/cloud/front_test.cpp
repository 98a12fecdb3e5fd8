// The front door over a real socket: requests that no check foresaw, and control that does not stall the
// loop.
#include "cloud/front.hpp"

#include <future>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "net/client.hpp"

namespace headroom::cloud {
namespace {

std::string fresh_folder() {
  std::string path = testing::TempDir() + "frontXXXXXX";
  return mkdtemp(path.data()) != nullptr ? path : std::string{};
}

class FrontTest : public testing::Test {
 protected:
  void SetUp() override {
    state_ = std::move(*StateFile::open(fresh_folder()));
    front_ = std::make_unique<Front>(world_, *state_, relay_, clock_,
                                     FrontSettings{std::nullopt, {"127.0.0.1"}}, [this] { changed_(); });
    auto started = net::Server::start(loop_, {}, [this](auto exchange) { front_->handle(exchange); });
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
  }
  void TearDown() override {
    server_.reset();
    loop_.stop();
  }
  net::ClientRequest post(std::string target, net::Headers headers, std::string body) {
    net::ClientRequest out;
    out.port = server_->port();
    out.method = "POST";
    out.target = std::move(target);
    out.headers = std::move(headers);
    out.body = std::move(body);
    out.answer_timeout = std::chrono::seconds(10);
    return out;
  }
  net::Response answer(const net::ClientRequest& request) {
    auto got = client_.fetch(request);
    EXPECT_TRUE(got) << got.error().message;
    return got ? *got : net::Response{};
  }
  net::ClientRequest create_model(const std::string& name) {
    return post("/",
                {{"X-Amz-Target", "SageMaker.CreateModel"}, {"Content-Type", "application/x-amz-json-1.1"}},
                R"({"ModelName":")" + name + R"(","PrimaryContainer":{"Image":"image:1"}})");
  }

  const base::Clock& clock_ = base::SystemClock::instance();
  std::function<void()> changed_ = [] {};
  base::Guarded<World> world_{World(clock_)};
  std::unique_ptr<StateFile> state_;
  net::Loop loop_{1};
  net::Client client_{loop_};
  Relay relay_{world_, client_, clock_};
  std::unique_ptr<Front> front_;
  std::unique_ptr<net::Server> server_;
};

TEST_F(FrontTest, AnswersAFormWhoseMembersAreNoTexts) {
  const net::Headers form{{"Content-Type", "application/x-www-form-urlencoded"}};
  EXPECT_EQ(answer(post("/", form, "Version.a=1&Action=PutMetricData")).status, 400);
  const auto no_action = answer(post("/", form, "Version=2010-08-01&Action.b=1"));
  EXPECT_EQ(no_action.status, 400);
  EXPECT_NE(no_action.body.find("InvalidAction"), std::string::npos) << no_action.body;
}

// As long as the disk, here held by hand, keeps a changing call.
TEST_F(FrontTest, RelaysWhileAChangeIsSaved) {
  std::promise<void> entered, release;
  changed_ = [&] {
    entered.set_value();
    release.get_future().wait();
  };
  std::promise<int> created;
  client_.start(create_model("m"), {[&](int status, const auto&) { created.set_value(status); }, {}, {}});
  entered.get_future().wait();
  EXPECT_EQ(answer(post("/endpoints/none/invocations", {}, "{}")).status, 400);
  release.set_value();
  EXPECT_EQ(created.get_future().get(), 200);
}

}  // namespace
}  // namespace headroom::cloud
