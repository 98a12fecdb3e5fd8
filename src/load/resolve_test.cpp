// Which of several addresses is taken, on real loopback sockets; no name is looked up.
#include "load/resolve.hpp"

#include <cstring>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace headroom::load {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

SocketAddress address_of(const char* literal, in_port_t port) {
  SocketAddress out;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = port;
  inet_pton(AF_INET, literal, &v4.sin_addr);
  std::memcpy(&out.address, &v4, sizeof v4);
  out.length = sizeof v4;
  out.literal = literal;
  return out;
}

// Listens at 127.0.0.1 only; 127.0.0.2 and .3 with the same port refuse.
class ResolveTest : public testing::Test {
 protected:
  ResolveTest() : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    SocketAddress any = address_of("127.0.0.1", 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&any.address), any.length), 0);
    EXPECT_EQ(listen(fd, 4), 0);
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
    port = bound.sin_port;
  }
  ~ResolveTest() override { close(fd); }
  const int fd;
  in_port_t port = 0;
};

TEST_F(ResolveTest, TheFirstAddressThatAnswersIsTaken) {
  const auto got = first_that_answers(
      {address_of("127.0.0.2", port), address_of("127.0.0.1", port), address_of("127.0.0.3", port)},
      "http://x", seconds{5});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->literal, "127.0.0.1");
}

TEST_F(ResolveTest, WhereNoneAnswersEachIsNamed) {
  const auto got = first_that_answers({address_of("127.0.0.2", port), address_of("127.0.0.3", port)},
                                      "http://x:1", seconds{5});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::ErrorCode::kUnavailable);
  EXPECT_THAT(got.error().message, HasSubstr("http://x:1"));
  EXPECT_EQ(got.error().context, "127.0.0.2: Connection refused, 127.0.0.3: Connection refused");
}

TEST_F(ResolveTest, OneAloneIsNotTried) {
  EXPECT_EQ(first_that_answers({address_of("127.0.0.2", port)}, "http://x", seconds{5})->literal,
            "127.0.0.2");
}

TEST(Resolve, KnowsLiterals) {
  const auto got = resolve("127.0.0.1", 80);
  ASSERT_TRUE(got);
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ(got->front().literal, "127.0.0.1");
}

}  // namespace
}  // namespace headroom::load
