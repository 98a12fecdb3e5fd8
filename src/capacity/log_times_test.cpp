// Times of a log whose clock is right, ahead, behind, and set meanwhile.
#include "capacity/log_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Asked for at 100 s; the log's first line at 280 s, ready at 292 s, read within 2 s; InService seen at 300
// s.
const LogBounds kBounds{100s, 300s};
std::vector<LogTime> a_log(base::Duration skew) {
  return {{"instance_logging", 280s + skew, 282s, false},
          {"container_started", 284s + skew, 285s, true},
          {"weights_ready", 291s + skew, 293s, true},
          {"ready", 292s + skew, 293s, true}};
}

std::vector<base::Duration> times_of(const PlacedLog& placed) {
  std::vector<base::Duration> out;
  for (const Stamp& stamp : placed.stamps) out.push_back(stamp.at);
  return out;
}

TEST(LogTimes, OfClocksThatAgreeStandAsTheyAre) {
  const auto placed = place_log_times(a_log(0s), kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(280s, 284s, 291s, 292s));
  EXPECT_THAT(placed.notes, IsEmpty());
  EXPECT_EQ(placed.stamps[0].kind, StageKind::kObserved);
  EXPECT_EQ(placed.stamps[0].resolution_s, 0.001);
}

TEST(LogTimes, OfAClockAheadAreShiftedToWhenTheyWereReadAndKeepTheirDifferences) {
  const auto placed = place_log_times(a_log(40s), kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(281s, 285s, 292s, 293s));
  EXPECT_EQ(placed.stamps[0].kind, StageKind::kBounded);
  ASSERT_EQ(placed.notes.size(), 1U);
  EXPECT_THAT(placed.notes[0],
              HasSubstr("the instance's clock is at least 39.000 s ahead of this machine's"));
}

TEST(LogTimes, OfAClockBehindAreShiftedIntoTheClocksSpan) {
  const auto placed = place_log_times(a_log(-200s), kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(281s, 285s, 292s, 293s));
  EXPECT_EQ(placed.stamps[0].resolution_s, 181);  // from the asking on, they may lie anywhere
  ASSERT_EQ(placed.notes.size(), 1U);
  EXPECT_THAT(placed.notes[0], HasSubstr("at least 20.000 s behind this machine's"));
}

TEST(LogTimes, ThatASkewMayHaveMovedWithoutBreakingAnyOrderAreNoted) {
  const auto placed = place_log_times(a_log(-30s), kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(250s, 254s, 261s, 262s));
  ASSERT_EQ(placed.notes.size(), 1U);
  EXPECT_THAT(placed.notes[0], HasSubstr("read 31.0 s after its own times"));
  LogBounds resumed = kBounds;
  resumed.watched = false;  // nobody looked, so that late reading says nothing
  EXPECT_THAT(place_log_times(a_log(-30s), resumed).notes, IsEmpty());
}

TEST(LogTimes, OfReadyAfterInServiceTellOfAClockAheadToo) {
  std::vector<LogTime> times{{"container_started", 310s, 330s, true}, {"ready", 320s, 330s, true}};
  const auto placed = place_log_times(times, kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(291s, 301s));
  EXPECT_THAT(placed.notes, ElementsAre(HasSubstr("at least 19.000 s ahead")));
  times[1].at = 300s + 5ms;  // answered its health check before it said so
  EXPECT_THAT(place_log_times({times[1]}, kBounds).notes, IsEmpty());
}

TEST(LogTimes, OfTheServiceAndOfTheInstanceMayBeOfTwoClocks) {
  auto times = a_log(40s);
  times[0].at = 280s;  // the service's clock is right
  times[0].seen = 281s;
  times[1].at = 40s;  // and no one shift fits both
  times[2].at = 47s;
  times[3].at = 48s;
  const auto placed = place_log_times(times, kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(280s, 285s, 292s, 293s));
  EXPECT_EQ(placed.stamps[0].kind, StageKind::kObserved);
  EXPECT_THAT(placed.notes, ElementsAre(HasSubstr("the instance's clock is at least 60.000 s behind")));
}

TEST(LogTimes, OfAClockThatWasSetMeanwhileAreEachPlacedWhereTheyCanBe) {
  auto times = a_log(0s);
  times[1].at = 20s;   // before it was asked for
  times[3].at = 400s;  // after it was read
  const auto placed = place_log_times(times, kBounds);
  EXPECT_THAT(times_of(placed), ElementsAre(280s, 285s, 291s, 293s));
  EXPECT_EQ(placed.stamps[1].kind, StageKind::kBounded);
  EXPECT_THAT(placed.notes, ElementsAre(HasSubstr("was set while it started")));
}

TEST(LogTimes, AreNoneForALogThatWasNotSeen) {
  const auto placed = place_log_times({}, kBounds);
  EXPECT_THAT(placed.stamps, IsEmpty());
  EXPECT_THAT(placed.notes, IsEmpty());
}

// Whatever the skew, the stages of a whole measurement sum to what the client's own clock saw.
TEST(LogTimes, NeverMakeAStageNegativeOrMoveTheTotal) {
  for (const auto skew : {-100'000s, -200s, -30s, 0s, 5s, 40s, 100'000s}) {
    std::vector<Stamp> stamps{{"load_applied", 70s},
                              {"desired_set", 100s},
                              {"in_service", 300s, StageKind::kBounded, 1},
                              {"traffic_recovered", 320s, StageKind::kBounded, 1}};
    for (const auto& stamp : place_log_times(a_log(skew), kBounds).stamps) stamps.push_back(stamp);
    const auto stages = stages_from_stamps(stamps);
    ASSERT_TRUE(stages);
    EXPECT_EQ(stages->measured_total_s, 220);
    EXPECT_EQ(stages->measured.size(), 6U) << skew.count();
    EXPECT_EQ(stages->before_clock.size(), 1U) << skew.count();
    for (const Stage& stage : stages->measured) EXPECT_GE(stage.s, 0) << stage.to << " " << skew.count();
  }
}

}  // namespace
}  // namespace headroom::capacity
