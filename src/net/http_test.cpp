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

TEST(PercentDecode, LeavesBrokenEscapesAlone) {
  EXPECT_EQ(percent_decode("a%20b%2"), "a b%2");
  EXPECT_EQ(percent_decode("%zz%41+"), "%zzA+");
}

}  // namespace headroom::net
