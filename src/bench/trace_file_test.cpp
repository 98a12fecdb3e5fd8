// Traces in the forms that people have them in.
#include "bench/trace_file.hpp"

#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

TEST(TraceFile, ReadsDatesSecondsAndJsonLines) {
  const auto dates = parse_trace(
      "TIMESTAMP,ContextTokens\n2023-11-16 18:15:46.6800000,374\n2023-11-16 18:15:50.6800000,396\n", "a.csv");
  ASSERT_TRUE(dates) << dates.error().message;
  ASSERT_EQ(dates->at_s.size(), 2U);
  EXPECT_NEAR(dates->at_s[1], 4.0, 1e-6);
  const auto seconds = parse_trace("characters,t_s\n25,10\n30,12.5\n", "b.csv");
  ASSERT_TRUE(seconds);
  EXPECT_NEAR(seconds->at_s[1], 2.5, 1e-9);
  const auto bare = parse_trace("3\n1\n2\n", "c.csv");  // no header, out of order
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->at_s, (std::vector<double>{0, 1, 2}));
  const auto lines =
      parse_trace("{\"t_s\": 1, \"text\": \"a\"}\n\n{\"timestamp\": \"2024-02-29T00:00:00Z\"}\n", "d");
  EXPECT_FALSE(lines);  // mixed origins: 1970 and 2024 are more than 31 days apart
  const auto json = parse_trace("{\"t_s\": 1}\n{\"t_s\": 3}\n", "d.jsonl");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->at_s[1], 2);
}

TEST(TraceFile, MillisecondsAreReadAsSuchAndNeverAsSeconds) {
  for (const char* text :
       {"t_ms,text\n0,a\n600000,b\n", "text,Timestamp_ms\na,1700000000000\nb,1700000600000\n",
        "arrival_ms\n5\n600005\n", "{\"t_ms\": 0}\n{\"t_ms\": 600000}\n",
        "{\"timestamp_ms\": 1700000000000}\n{\"timestamp_ms\": 1700000600000}\n"}) {
    const auto trace = parse_trace(text, "t");
    ASSERT_TRUE(trace) << text << trace.error().message;
    EXPECT_NEAR(trace->at_s.at(1), 600, 1e-3) << text;
  }
  const auto epoch = parse_trace("timestamp\n1700000000\n1700000600\n", "t.csv");  // seconds, as ever
  ASSERT_TRUE(epoch);
  EXPECT_EQ(epoch->at_s, (std::vector<double>{0, 600}));
  for (const char* text : {"timestamp\n1700000000000\n1700000600000\n", "{\"t_s\": 1700000000000}\n"}) {
    const auto trace = parse_trace(text, "t.csv");
    ASSERT_FALSE(trace) << text;
    EXPECT_NE(trace.error().message.find("t_ms"), std::string::npos) << trace.error().message;
  }
}

TEST(TraceFile, CountsAreSpreadOverTheirPeriod) {
  const auto trace = parse_trace("t_s,count,period_s\n0,2,60\n60,0,60\n120,1,60\n", "c.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->at_s, (std::vector<double>{0, 30, 135}));
  EXPECT_FALSE(parse_trace("t_s,count\n0,-1\n", "c.csv"));
  EXPECT_FALSE(parse_trace("t_s,count\n0,1e300\n", "c.csv"));
  EXPECT_FALSE(parse_trace("t_s,count\n0\n", "c.csv"));
}

TEST(TraceFile, NamesTheLineThatHasNoTime) {
  for (const char* text :
       {"t_s\n1\nx\n", "{\"t_s\": 1}\n{\"text\": 2}\n", "t_s\n2023-13-01 00:00:00\n1\nnan\n"}) {
    const auto trace = parse_trace(text, "t.csv");
    ASSERT_FALSE(trace) << text;
    EXPECT_NE(trace.error().message.find("t.csv:"), std::string::npos) << trace.error().message;
  }
  EXPECT_FALSE(parse_trace("", "t.csv"));
  EXPECT_FALSE(parse_trace("timestamp\n", "t.csv"));
  EXPECT_FALSE(read_trace("/nonexistent/trace.csv"));
}

}  // namespace
}  // namespace headroom::bench
