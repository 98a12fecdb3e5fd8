// Schedules: a table of expressions with their next runs, and of those that are refused.
#include "capacity/schedule_rules.hpp"

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

constexpr std::int64_t kNow = 1'795'947'300;  // 2026-11-29T10:15:00Z, a Sunday

std::optional<std::int64_t> next(const std::string& text, int offset = 0) {
  const auto schedule = parse_schedule(text);
  if (!schedule) {
    ADD_FAILURE() << text << ": " << schedule.error().message;
    return std::nullopt;
  }
  return next_run(*schedule, kNow, kNow, [=](std::int64_t) { return offset; });
}

TEST(Schedules, RunNext) {
  constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86'400;
  struct {
    const char* text;
    std::optional<std::int64_t> in;  // seconds from now
  } const rows[] = {
      {"at(2026-11-29T10:15:01)", 1},
      {"at(2026-11-29T10:15:00)", {}},
      {"rate(5 minutes)", 5 * kMinute},
      {"rate(1 day)", kDay},
      {"cron(* * * * ? *)", kMinute},
      {"cron(0/15 * * * ? *)", 15 * kMinute},
      {"cron(10,20 * * * ? *)", 5 * kMinute},
      {"cron(0 9 * * ? *)", kDay - kHour - 15 * kMinute},
      {"cron(0 12-14 * * ? *)", kHour + 45 * kMinute},
      {"cron(15 10 ? * SUN *)", 7 * kDay},
      {"cron(15 10 ? * MON-FRI *)", kDay},
      {"cron(15 10 ? * 2 *)", kDay},
      {"cron(15 10 L * ? *)", kDay},
      {"cron(15 10 1 JAN ? *)", 33 * kDay},
      {"cron(15 10 ? * MON#1 *)", 8 * kDay},
      {"cron(15 10 ? * MONL *)", kDay},
      {"cron(15 10 29 2 ? *)", 457 * kDay},
      {"cron(15 10 1 1 ? 2026)", {}},
  };
  for (const auto& row : rows) {
    const auto at = next(row.text);
    EXPECT_EQ(at ? std::optional(*at - kNow) : std::nullopt, row.in) << row.text;
  }
}

TEST(Schedules, FollowTheirZone) {
  EXPECT_EQ(next("cron(0 12 * * ? *)", 3600), kNow + 45 * 60);
  EXPECT_EQ(next("at(2026-11-29T11:16:00)", 3600), kNow + 60);
  // At midnight UTC the clocks go from 02:00 to 03:00: there is no 02:30 on that day.
  const std::int64_t jump = kNow + 86'400 - 10 * 3600 - 15 * 60;
  const auto offset = [=](std::int64_t utc) { return utc < jump ? 7200 : 10'800; };
  const auto schedule = parse_schedule("cron(30 2 * * ? *)");
  ASSERT_TRUE(schedule);
  const auto at = next_run(*schedule, kNow, kNow, offset);
  ASSERT_TRUE(at);
  EXPECT_EQ((*at + offset(*at)) % 86'400, 2 * 3600 + 30 * 60);
  EXPECT_GT(*at, jump + 3600);
}

TEST(Schedules, AreRefusedWhereTheyAreWrong) {
  for (const char* text :
       {"", "daily", "at(2026-02-30T00:00:00)", "at(2026-11-29)", "rate(5 minute)", "rate(0 minutes)",
        "rate(1 minutes)", "cron(* * * * * *)", "cron(* * ? * ? *)", "cron(60 * * * ? *)", "cron(* * * * ?)",
        "cron(a * * * ? *)", "cron(* * 1W * ? *)", "cron(5-1 * * * ? *)", "cron(*/0 * * * ? *)",
        "cron(* * ? * 1#6 *)", "at(", "week(1)"})
    EXPECT_FALSE(parse_schedule(text)) << text;
}

}  // namespace
}  // namespace headroom::capacity
