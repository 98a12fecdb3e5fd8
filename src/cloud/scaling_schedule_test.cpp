// Scheduled actions on a turned clock, and the zones they are read in.
#include "cloud/scaling_schedule.hpp"

#include <gtest/gtest.h>

#include "base/atomic_file.hpp"
#include "cloud/scaling_zone.hpp"
#include "cloud/test_world.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

const Json kTarget{{"ServiceNamespace", "sagemaker"},
                   {"ResourceId", "endpoint/e/variant/v"},
                   {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"}};

struct Schedules : testing::Test, TestWorld {
  void SetUp() override {
    world.settings.quota = 20;
    make_endpoint(1);
    settle();
    put("RegisterScalableTarget", {{"MinCapacity", 1}, {"MaxCapacity", 5}});
  }
  std::string put(const char* operation, const Json& more) {
    Json in = kTarget;
    in.update(more);
    return refusal(operation, in);
  }
  std::string action(const char* name, const char* schedule, const Json& bounds,
                     const Json& more = Json::object()) {
    Json in{{"ScheduledActionName", name}, {"Schedule", schedule}, {"ScalableTargetAction", bounds}};
    in.update(more);
    return put("PutScheduledAction", in);
  }
  void pass(int for_s) {
    for (int t = 0; t < for_s; ++t) {
      clock.advance(seconds(1));
      look();
    }
  }
  int desired() { return endpoint().variants[0].desired; }
  const Json& target() { return world.targets.begin()->second; }
};

TEST_F(Schedules, RaiseTheMinimumWhenDue) {
  // The clock begins at 2027-01-15T08:00:00Z.
  ASSERT_EQ(action("up", "cron(5 8 * * ? *)", {{"MinCapacity", 3}}), "");
  ASSERT_EQ(action("never", "at(2027-01-15T07:00:00)", {{"MinCapacity", 5}}), "");
  pass(290);
  EXPECT_EQ(desired(), 1);
  pass(15);
  EXPECT_EQ(desired(), 3);
  EXPECT_EQ(target()["MinCapacity"], 3);
  EXPECT_EQ(world.activities.back()["Cause"], "scheduled action name up was triggered");
  EXPECT_EQ(world.activities.back()["Description"], "Setting min capacity to 3 and max capacity to 5");
}

TEST_F(Schedules, AreHeldBySuspensionAndEndWithTheirEndTime) {
  ASSERT_EQ(action("up", "rate(1 minute)", {{"MinCapacity", 2}}), "");
  ASSERT_EQ(put("RegisterScalableTarget", {{"SuspendedState", {{"ScheduledScalingSuspended", true}}}}), "");
  pass(130);
  EXPECT_EQ(desired(), 1);
  const double end = epoch_seconds(clock.wall()) + 30;
  ASSERT_EQ(action("up", "rate(1 minute)", {{"MinCapacity", 2}}, {{"EndTime", end}}), "");
  ASSERT_EQ(put("RegisterScalableTarget", {{"SuspendedState", {{"ScheduledScalingSuspended", false}}}}), "");
  pass(200);
  EXPECT_LE(desired(), 2);
}

TEST_F(Schedules, MoveTheOtherBoundAlong) {
  ASSERT_EQ(action("up", "rate(1 minute)", {{"MinCapacity", 8}}), "");
  pass(65);
  EXPECT_EQ(target()["MinCapacity"], 8);
  EXPECT_EQ(target()["MaxCapacity"], 8);
}

TEST_F(Schedules, AreRefusedWithAReason) {
  EXPECT_NE(action("x", "cron(* * * * * *)", {{"MinCapacity", 1}}).find("exactly one must be ?"),
            std::string::npos);
  EXPECT_NE(action("x", "rate(1 minute)", {{"MinCapacity", 3}, {"MaxCapacity", 2}}), "");
  EXPECT_NE(action("x", "rate(1 minute)", Json::object()), "");
  EXPECT_NE(action("x", "rate(1 minute)", {{"MinCapacity", 1}}, {{"Timezone", "../../etc/passwd"}})
                .find("time zone"),
            std::string::npos);
  EXPECT_TRUE(world.scaling.scheduled.empty());
}

TEST(Zones, GiveTheOffsetOfATime) {
  const base::WallTime now{seconds{1'800'000'000}};
  const auto utc = TimeZone::load("UTC", now);
  ASSERT_TRUE(utc);
  EXPECT_EQ(utc->offset_s(1'800'000'000), 0);
  for (const char* name : {"", "/etc/passwd", "../zoneinfo/UTC", "No/Where", "zone.tab"})
    EXPECT_FALSE(TimeZone::load(name, now)) << name;
  if (!base::file_exists("/usr/share/zoneinfo/Europe/Berlin"))
    GTEST_SKIP() << "no zone files on this machine";
  const auto berlin = TimeZone::load("Europe/Berlin", now);
  ASSERT_TRUE(berlin);
  EXPECT_EQ(berlin->offset_s(1'800'000'000), 3600);  // January 2027
  EXPECT_EQ(berlin->offset_s(1'815'000'000), 7200);  // July 2027
  EXPECT_EQ(berlin->offset_s(1'806'195'599), 3600);  // a second before 2027-03-28T01:00:00Z
  EXPECT_EQ(berlin->offset_s(1'806'195'600), 7200);
}

}  // namespace
}  // namespace headroom::cloud
