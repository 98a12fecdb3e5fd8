// What stays of the logs when there are too many streams or too much in them.
#include "cloud/log_store.hpp"

#include <gtest/gtest.h>

#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

std::string stream(int i) { return "v/i-" + std::to_string(i); }

std::size_t streams_of(const LogStore& logs, const std::string& group) {
  const auto it = logs.groups().find(group);
  return it == logs.groups().end() ? 0 : it->second.streams.size();
}

TEST(LogStore, DropsTheStreamsOfAGroupThatEndedLongestAgo) {
  LogStore logs({.streams_per_group = 3});
  logs.begin("g", stream(0));
  for (int i = 0; i < 10; ++i) logs.append("g", stream(i), 1000 + i, "line");
  EXPECT_EQ(streams_of(logs, "g"), 3U);
  EXPECT_NE(logs.find("g", stream(0)), nullptr);  // it lives
  EXPECT_EQ(logs.find("g", stream(7)), nullptr);
  EXPECT_NE(logs.find("g", stream(8)), nullptr);
  EXPECT_NE(logs.find("g", stream(9)), nullptr);
  logs.end("g", stream(0));
  logs.append("g", stream(10), 2000, "line");
  EXPECT_EQ(logs.find("g", stream(0)), nullptr);
}

TEST(LogStore, KeepsLivingStreamsAboveTheLimit) {
  LogStore logs({.streams_per_group = 2});
  for (int i = 0; i < 5; ++i) {
    logs.begin("g", stream(i));
    logs.append("g", stream(i), 1000, "line");
  }
  EXPECT_EQ(streams_of(logs, "g"), 5U);
}

TEST(LogStore, DropsTheGroupsOfEndpointsThatAreGone) {
  LogStore logs({.streams = 4});
  for (int i = 0; i < 10; ++i) logs.append("g" + std::to_string(i), "s", 1000 + i, "line");
  EXPECT_EQ(logs.groups().size(), 4U);
  EXPECT_EQ(streams_of(logs, "g9"), 1U);
}

TEST(LogStore, BoundsWhatAllStreamsHold) {
  LogStore logs({.bytes = 10'000});
  logs.begin("g", "loud");
  logs.begin("g", "quiet");
  logs.append("g", "ended", 1000, std::string(3000, 'e'));
  logs.append("g", "quiet", 1000, "=== STAGE ready ===");
  for (int i = 0; i < 100; ++i) logs.append("g", "loud", 2000 + i, std::string(1000, 'l'));
  EXPECT_EQ(logs.find("g", "ended"), nullptr);
  EXPECT_EQ(logs.last_line("g", "quiet"), "=== STAGE ready ===");
  const LogStream* loud = logs.find("g", "loud");
  EXPECT_LE(loud->events.size(), 9U);
  EXPECT_GE(loud->events.size(), 7U);
  EXPECT_EQ(loud->dropped + loud->events.size(), 100U);
  EXPECT_EQ(loud->events.back().time_ms, 2099);
}

// As the supervisor does it: an instance writes until its exit has been seen.
TEST(LogStore, LosesNoStreamOfALivingInstance) {
  TestWorld t;
  t.make_endpoint(1);
  t.settle();
  const std::string group = endpoint_log_group("e");
  const std::string serving = log_stream_name(t.endpoint().instances.at(0));
  t.world.logs.append(group, serving, 1, "first");
  for (int i = 0; i < 1000; ++i) t.world.logs.append(group, stream(i), 2, "failed to start");
  EXPECT_EQ(t.world.logs.last_line(group, serving), "first");
  t.endpoint().instances.at(0).exited = true;
  t.look();
  for (int i = 0; i < 1000; ++i) t.world.logs.append(group, stream(i), 3, "failed to start");
  EXPECT_EQ(t.world.logs.find(group, serving), nullptr);
}

}  // namespace
}  // namespace headroom::cloud
