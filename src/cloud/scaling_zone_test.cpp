// Rules of time zones, and zone files whose last transition lies in the past.
#include "cloud/scaling_zone.hpp"

#include <gtest/gtest.h>

namespace headroom::cloud {
namespace {

const base::WallTime kNow{std::chrono::seconds{1'800'000'000}};  // 2027-01-15T08:00:00Z

std::int64_t utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  using namespace std::chrono;
  const sys_days date{
      year_month_day{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}}};
  return duration_cast<seconds>(date.time_since_epoch()).count() + hour * 3600 + minute * 60 + second;
}

int offset(const char* rule, std::int64_t at) {
  const auto parsed = ZoneRule::parse(rule);
  EXPECT_TRUE(parsed) << rule;
  return parsed ? parsed->offset_s(at) : -1;
}

std::string big_endian(std::int64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8U * static_cast<unsigned>(i)));
  return out;
}

// A file with one transition, at which the offset becomes an hour more than `first`.
std::string zone_file(int first, std::int64_t at, const std::string& footer) {
  const auto header = [](int times, int types) {
    return "TZif2" + std::string(15, '\0') + big_endian(0, 4) + big_endian(0, 4) + big_endian(0, 4) +
           big_endian(times, 4) + big_endian(types, 4) + big_endian(1, 4);
  };
  const auto type = [](int of) { return big_endian(of, 4) + std::string(2, '\0'); };
  return header(0, 1) + type(0) + std::string(1, '\0') + header(1, 2) + big_endian(at, 8) + '\1' +
         type(first) + type(first + 3600) + std::string(1, '\0') + footer;
}

TEST(ZoneRule, FollowsBothHalvesOfTheWorld) {
  constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";
  EXPECT_EQ(offset(kBerlin, utc(2027, 3, 28, 0, 59, 59)), 3600);
  EXPECT_EQ(offset(kBerlin, utc(2027, 3, 28, 1)), 7200);
  EXPECT_EQ(offset(kBerlin, utc(2027, 10, 31, 0, 59, 59)), 7200);
  EXPECT_EQ(offset(kBerlin, utc(2027, 10, 31, 1)), 3600);
  EXPECT_EQ(offset(kBerlin, utc(2027, 12, 31, 23, 30)), 3600);
  constexpr const char* kNewYork = "EST5EDT,M3.2.0,M11.1.0";
  EXPECT_EQ(offset(kNewYork, utc(2027, 3, 14, 6, 59, 59)), -18000);
  EXPECT_EQ(offset(kNewYork, utc(2027, 3, 14, 7)), -14400);
  EXPECT_EQ(offset(kNewYork, utc(2027, 11, 7, 5, 59, 59)), -14400);
  EXPECT_EQ(offset(kNewYork, utc(2027, 11, 7, 6)), -18000);
  constexpr const char* kSydney = "AEST-10AEDT,M10.1.0,M4.1.0/3";
  EXPECT_EQ(offset(kSydney, utc(2027, 1, 1)), 39600);
  EXPECT_EQ(offset(kSydney, utc(2027, 4, 3, 15, 59, 59)), 39600);
  EXPECT_EQ(offset(kSydney, utc(2027, 4, 3, 16)), 36000);
  EXPECT_EQ(offset(kSydney, utc(2027, 10, 2, 15, 59, 59)), 36000);
  EXPECT_EQ(offset(kSydney, utc(2027, 10, 2, 16)), 39600);
}

TEST(ZoneRule, ReadsAllFormsOfOffsetsNamesAndDays) {
  EXPECT_EQ(offset("UTC0", utc(2027, 7, 1)), 0);
  EXPECT_EQ(offset("<+0545>-5:45", utc(2027, 7, 1)), 20700);
  EXPECT_EQ(offset("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", utc(2027, 3, 28, 0, 59, 59)), -10800);
  EXPECT_EQ(offset("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", utc(2027, 3, 28, 1)), -7200);
  // Winter is the exception: an hour less than standard time.
  EXPECT_EQ(offset("IST-1GMT0,M10.5.0,M3.5.0/1", utc(2027, 1, 15)), 0);
  EXPECT_EQ(offset("IST-1GMT0,M10.5.0,M3.5.0/1", utc(2027, 7, 15)), 3600);
  // Days of the year: J60 is the first of March in all years, 59 only in those without a 29th of February.
  EXPECT_EQ(offset("AAA0BBB,J60/0,J300/0", utc(2028, 2, 29, 12)), 0);
  EXPECT_EQ(offset("AAA0BBB,J60/0,J300/0", utc(2028, 3, 1)), 3600);
  EXPECT_EQ(offset("AAA0BBB,59/0,300/0", utc(2028, 2, 29)), 3600);
  // Summer for ever.
  for (const int month : {1, 6, 12})
    EXPECT_EQ(offset("EST5EDT,0/0,J365/25", utc(2027, static_cast<unsigned>(month), 1)), -14400) << month;
  EXPECT_EQ(offset("EST5EDT,0/0,J365/25", utc(2028, 1, 1, 4, 30)), -14400);
}

TEST(ZoneRule, RefusesWhatIsNone) {
  for (const char* text :
       {"", "CET", "CE-1", "-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,M10.5.0/3x", "CET-25",
        "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "<+01-1",
        "CET-1CEST,J0,J10", "CET-1CEST,M3.5.0/168,M10.5.0", "CET-1:60", ":Europe/Berlin"})
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
}

TEST(Zone, FollowsTheRuleOfItsFileAfterTheLastTransition) {
  const auto berlin =
      TimeZone::parse("X/Slim", zone_file(0, utc(1996, 10, 27, 1), "\nCET-1CEST,M3.5.0,M10.5.0/3\n"), kNow);
  ASSERT_TRUE(berlin);
  EXPECT_EQ(berlin->offset_s(utc(1990, 7, 1)), 0);
  EXPECT_EQ(berlin->offset_s(utc(1996, 12, 1)), 3600);
  EXPECT_EQ(berlin->offset_s(utc(2027, 7, 1)), 7200);
  EXPECT_EQ(berlin->offset_s(utc(2027, 12, 1)), 3600);
}

TEST(Zone, IsRefusedWhereItsRuleIsNeededAndCannotBeRead) {
  for (const char* footer : {"", "\n\n", "\nCET-1CEST\n", "\nCET-1CEST,M3.5.0,M10.5.0/3"}) {
    const auto past = TimeZone::parse("X/Old", zone_file(0, utc(2007, 1, 1), footer), kNow);
    ASSERT_FALSE(past) << footer;
    EXPECT_EQ(past.error().code, base::ErrorCode::kInvalidData);
    EXPECT_NE(past.error().message.find("'X/Old'"), std::string::npos) << past.error().message;
    const auto future = TimeZone::parse("X/Fat", zone_file(0, utc(2037, 1, 1), footer), kNow);
    ASSERT_TRUE(future) << footer;
    EXPECT_EQ(future->offset_s(utc(2027, 7, 1)), 0);
  }
}

}  // namespace
}  // namespace headroom::cloud
