// Tests of reading answers, whole and cut at every byte.
#include "load/http_answer.hpp"

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

struct Seen final : HttpAnswer::Sink {
  void head() override { ++heads; }
  void body(std::string_view piece) override { text += piece; }
  int heads = 0;
  std::string text;
};

struct Outcome {
  HttpAnswer::State state;
  int status;
  std::string text;
  bool keep_alive;
  std::string rest;
};

Outcome read(const std::string& wire, std::size_t piece, bool close = false) {
  HttpAnswer answer;
  Seen seen;
  std::string rest;
  for (std::size_t at = 0; at < wire.size(); at += piece) {
    rest += answer.feed(std::string_view(wire).substr(at, piece), seen);
  }
  if (close) answer.peer_closed();
  return {answer.state(), answer.status(), seen.text, answer.keep_alive(), rest};
}

TEST(HttpAnswer, ReadsASizedBodyHoweverItIsCut) {
  const std::string wire = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Request-Id:  abc \r\n\r\nhelloHTTP";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    const auto got = read(wire, piece);
    EXPECT_EQ(got.state, HttpAnswer::State::kDone) << piece;
    EXPECT_EQ(got.text, "hello");
    EXPECT_EQ(got.rest, "HTTP");
    EXPECT_TRUE(got.keep_alive);
  }
}

TEST(HttpAnswer, ReadsChunksTrailersAndExtensionsHoweverTheyAreCut) {
  const std::string wire =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nExpires: never\r\n\r\n";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    const auto got = read(wire, piece);
    EXPECT_EQ(got.state, HttpAnswer::State::kDone) << piece;
    EXPECT_EQ(got.text, "abc0123456789");
    EXPECT_EQ(got.rest, "");
  }
}

TEST(HttpAnswer, ABodyWithoutLengthEndsWithTheConnection) {
  const auto open = read("HTTP/1.0 200 OK\r\n\r\nab", 3);
  EXPECT_EQ(open.state, HttpAnswer::State::kBody);
  const auto closed = read("HTTP/1.0 200 OK\r\n\r\nab", 3, true);
  EXPECT_EQ(closed.state, HttpAnswer::State::kDone);
  EXPECT_FALSE(closed.keep_alive);
}

TEST(HttpAnswer, ABodyThatEndsEarlyIsNoSuccess) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 9, true).state, HttpAnswer::State::kBad);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 9, true).state,
            HttpAnswer::State::kBad);
  EXPECT_EQ(read("", 1, true).state, HttpAnswer::State::kBad);
}

TEST(HttpAnswer, RefusesWhatIsNoHttp) {
  for (const std::string wire :
       {"SSH-2.0-OpenSSH\r\n", "HTTP/2 200 fine\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    EXPECT_EQ(read(wire, wire.size()).state, HttpAnswer::State::kBad) << wire;
  }
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'a'), 4096).state, HttpAnswer::State::kBad);
}

TEST(HttpAnswer, AnEmptyAnswerIsDoneAtItsHead) {
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n", 7).state, HttpAnswer::State::kDone);
  const auto close = read("HTTP/1.1 503 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 7);
  EXPECT_EQ(close.state, HttpAnswer::State::kDone);
  EXPECT_FALSE(close.keep_alive);
}

}  // namespace
}  // namespace headroom::load
