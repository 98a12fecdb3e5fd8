// Names, run ids and times as text.
#include "base/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error_table.hpp"

namespace headroom::base {
namespace {

using namespace std::chrono_literals;

TEST(Names, FollowSageMakersPattern) {
  for (const char* good : {"a", "speech-kokoro-82m", "A--b", "9"})
    EXPECT_TRUE(is_sagemaker_name(good)) << good;
  EXPECT_TRUE(is_sagemaker_name(std::string(63, 'a')));
  EXPECT_FALSE(is_sagemaker_name(std::string(64, 'a')));
  for (const char* bad : {"", "-a", "a-", "a_b", "../x", "a/b", "a b", "a\n", "ä", ".", "a.b"})
    EXPECT_FALSE(is_sagemaker_name(bad)) << bad;
}

TEST(Names, AreQuotedWithoutControlCharactersWhenRefused) {
  const auto refused = check_sagemaker_name("x\n\x1b[2J", "endpoint name");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("endpoint name"));
}

TEST(Names, OfPathsCannotLeaveTheirFolder) {
  for (const char* bad : {"", ".", "..", ".hidden", "a/b", "a\\b"})
    EXPECT_FALSE(is_path_component(bad)) << bad;
  EXPECT_TRUE(is_path_component("qmax-1.json"));
}

TEST(RunIds, SortByTimeAndAreRecognised) {
  const WallTime t{1'800'000'000s};
  const auto early = make_run_id(t, 1'679'615);
  const auto late = make_run_id(t + 1ms, 0);
  EXPECT_LT(early, late);
  EXPECT_TRUE(is_run_id(early));
  EXPECT_FALSE(is_run_id("UPPER00000000"));
  EXPECT_FALSE(is_run_id("short"));
}

TEST(Iso8601, RoundTripsToTheMillisecond) {
  const WallTime t{1'796'000'000'123ms};
  EXPECT_EQ(format_iso8601(t), "2026-11-30T00:53:20.123Z");
  EXPECT_EQ(parse_iso8601(format_iso8601(t)), t);
  EXPECT_EQ(parse_iso8601("2026-11-30T00:53:20Z"), t - 123ms);
  EXPECT_EQ(parse_iso8601("2026-11-30T00:53:20.1234+00:00"), t + 400us);
}

TEST(Iso8601, RefusesWhatIsNoTime) {
  for (const char* bad :
       {"", "2026-11-30", "2026-13-30T00:53:20Z", "2026-02-30T00:53:20Z", "2026-11-30T24:53:20Z",
        "2026-11-30T00:53:20", "2026-11-30T00:53:20.Z", "2026-11-30T00:53:20+01:00"})
    EXPECT_FALSE(parse_iso8601(bad)) << bad;
}

TEST(Names, OfErrorsAreDistinct) {
  EXPECT_EQ(error_row(ErrorCode::kRefused).exit_code, kExitNegative);
  EXPECT_EQ(error_row(ErrorCode::kInvalidArgument).exit_code, kExitUsage);
  EXPECT_EQ(describe(Error{ErrorCode::kIo, "m", "c"}), "m (c)");
}

TEST(Iso8601, RefusesYearsThatNanosecondsCannotHold) {
  EXPECT_FALSE(parse_iso8601("5015-08-30T12:36:00Z"));
  EXPECT_FALSE(parse_iso8601("0001-01-01T00:00:00Z"));
  EXPECT_TRUE(parse_iso8601("2261-12-31T23:59:59Z"));
}

TEST(HostInUrl, PutsIpv6InBrackets) {
  EXPECT_EQ(host_in_url("::1"), "[::1]");
  EXPECT_EQ(host_in_url("2001:db8::7"), "[2001:db8::7]");
  EXPECT_EQ(host_in_url("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(host_in_url("localhost"), "localhost");
}

}  // namespace
}  // namespace headroom::base
