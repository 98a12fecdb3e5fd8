// Tests of the event frame encoder against bytes that boto3 and the JavaScript SDK accept.
#include "aws/event_frame.hpp"

#include <string>

#include <gtest/gtest.h>

namespace headroom::aws {
namespace {

std::string hex(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (unsigned char c : bytes) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

TEST(EventFrame, MatchesAPayloadPartTakenFromTheWire) {
  const EventFrame frame{{{":event-type", "PayloadPart"},
                          {":content-type", "application/octet-stream"},
                          {":message-type", "event"}},
                         "RIFF"};
  EXPECT_EQ(
      hex(encode_event_frame(frame)),
      "0000006d00000059163785c50b3a6576656e742d7479706507000b5061796c6f6164506172740d3a636f6e74656e742d7479"
      "70650700186170706c69636174696f6e2f6f637465742d73747265616d0d3a6d6573736167652d747970650700056576656e"
      "745249464661986781");
}

TEST(EventFrame, CarriesAnEmptyPayload) {
  EXPECT_EQ(encode_event_frame({{{":message-type", "event"}}, ""}).size(), 12u + 1 + 13 + 1 + 2 + 5 + 4);
}

TEST(EventFrame, IsEmptyWhenAHeaderBreaksTheFormat) {
  EXPECT_EQ(encode_event_frame({{{std::string(256, 'n'), "v"}}, "x"}), "");
  EXPECT_EQ(encode_event_frame({{{"name", std::string(40'000, 'v')}}, "x"}), "");
  EXPECT_EQ(encode_event_frame({{{"", "v"}}, "x"}), "");
}

}  // namespace
}  // namespace headroom::aws
