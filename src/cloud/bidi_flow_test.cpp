// When a client's stream is paused and goes on.
#include "cloud/bidi_flow.hpp"

#include <string>

#include <gtest/gtest.h>

namespace headroom::cloud {
namespace {

class Stream final : public H2Stream {
 public:
  const net::Request& request() const override { return request_; }
  void respond(net::Response) override {}
  void begin(int, net::Headers) override {}
  void write(std::string) override {}
  void finish() override {}
  std::size_t buffered_bytes() const override { return 0; }
  void pause() override { said += 'p'; }
  void resume() override { said += 'r'; }
  void on_drained(std::size_t, std::function<void()>) override {}
  std::string said;

 private:
  net::Request request_;
};

constexpr std::size_t kPart = 64U << 10U;

TEST(Inflow, PausesWhatTheLoopDoesNotTakeAndGoesOnOnceItHas) {
  const auto stream = std::make_shared<Stream>();
  Inflow inflow(stream);
  for (std::size_t i = 0; i < Inflow::kPauseAbove / kPart; ++i) inflow.add(kPart);
  EXPECT_EQ(stream->said, "");
  inflow.add(1);
  inflow.add(kPart);
  EXPECT_EQ(stream->said, "p");
  inflow.take(1);
  for (std::size_t left = Inflow::kPauseAbove; left > Inflow::kResumeBelow; left -= kPart) {
    EXPECT_EQ(stream->said, "p");
    inflow.take(kPart);
  }
  EXPECT_EQ(stream->said, "p");
  inflow.take(kPart);
  EXPECT_EQ(stream->said, "pr");
}

TEST(Inflow, GoesOnOnlyWhenNeitherTheQueueNorTheSocketIsFull) {
  const auto stream = std::make_shared<Stream>();
  Inflow inflow(stream);
  inflow.block(true);
  inflow.add(2 * Inflow::kPauseAbove);
  EXPECT_EQ(stream->said, "p");
  inflow.block(false);
  EXPECT_EQ(stream->said, "p");
  inflow.block(true);
  inflow.take(2 * Inflow::kPauseAbove);
  EXPECT_EQ(stream->said, "p");
  inflow.block(false);
  EXPECT_EQ(stream->said, "pr");
}

}  // namespace
}  // namespace headroom::cloud
