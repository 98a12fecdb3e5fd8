// Headers and percent decoding.
#include "net/http.hpp"

#include <gtest/gtest.h>

namespace headroom::net {

TEST(Headers, AreFoundWithoutRegardToCase) {
  Headers headers{{"Content-Type", "audio/wav"}};
  EXPECT_EQ(headers.get("content-type"), "audio/wav");
  EXPECT_FALSE(headers.find("accept").has_value());
  headers.set("CONTENT-TYPE", "text/plain");
  EXPECT_EQ(headers.rows().size(), 1U);
}

TEST(Request, TakesPathAndHostFromTheAbsoluteForm) {
  const auto read = [](std::string target) {
    Request request{.target = std::move(target), .headers = {{"Host", "sent"}}};
    set_path(request);
    return std::string(request.headers.get("host")) + ' ' + request.path + ' ' + request.query;
  };
  EXPECT_EQ(read("/a?b=1"), "sent /a b=1");
  EXPECT_EQ(read("HTTP://named:80/a?b=/"), "named:80 /a b=/");
  EXPECT_EQ(read("https://named?b"), "named / b");
  EXPECT_EQ(read("*"), "sent * ");
  EXPECT_EQ(read("/http://named/"), "sent /http://named/ ");
}

TEST(PercentDecode, LeavesBrokenEscapesAlone) {
  EXPECT_EQ(percent_decode("a%20b%2"), "a b%2");
  EXPECT_EQ(percent_decode("%zz%41+"), "%zzA+");
}

}  // namespace headroom::net
