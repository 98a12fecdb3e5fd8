// Alarm rules against the tables of the CloudWatch user guide.
#include "capacity/alarm_rules.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

using enum AlarmState;

// "0 - X": a datapoint within the threshold, a missing one, a breaching one; the threshold is 5.
std::vector<std::optional<double>> points(const std::string& text) {
  std::vector<std::optional<double>> out;
  for (const char c : text) {
    if (c == ' ') continue;
    if (c == '-')
      out.push_back(std::nullopt);
    else
      out.push_back(c == 'X' ? 9.0 : 1.0);
  }
  return out;
}

struct Row {
  const char* data;
  std::optional<AlarmState> missing, ignore, breaching, not_breaching;  // nullopt: the current state is kept
};

void check(int m, int n, std::span<const Row> rows) {
  for (const Row& row : rows) {
    for (const AlarmState current : {kOk, kAlarm, kInsufficientData}) {
      const auto state = [&](MissingData missing) {
        return evaluate_alarm({n, m, 5, Comparison::kGreater, missing}, points(row.data), current).state;
      };
      EXPECT_EQ(state(MissingData::kMissing), row.missing.value_or(current)) << row.data << " missing";
      EXPECT_EQ(state(MissingData::kIgnore), row.ignore.value_or(current)) << row.data << " ignore";
      EXPECT_EQ(state(MissingData::kBreaching), row.breaching.value_or(current)) << row.data << " breaching";
      EXPECT_EQ(state(MissingData::kNotBreaching), row.not_breaching.value_or(current)) << row.data;
    }
  }
}

TEST(AlarmRules, FollowTheGuidesTableForThreeOfThree) {
  const Row rows[] = {
      {"0 - X - X", kOk, kOk, kOk, kOk},
      {"0 - - - -", kOk, kOk, kOk, kOk},
      {"- - - - -", kInsufficientData, std::nullopt, kAlarm, kOk},
      {"0 X X - X", kAlarm, kAlarm, kAlarm, kAlarm},
      {"- - X - -", kAlarm, std::nullopt, kAlarm, kOk},
  };
  check(3, 3, rows);
}

TEST(AlarmRules, FollowTheGuidesTableForTwoOfThree) {
  const Row rows[] = {
      {"0 - X - X", kAlarm, kAlarm, kAlarm, kAlarm},
      {"0 0 X 0 X", kAlarm, kAlarm, kAlarm, kAlarm},
      {"0 - X - -", kOk, kOk, kAlarm, kOk},
      {"- - - - 0", kOk, kOk, kAlarm, kOk},
      {"- - - X -", kAlarm, std::nullopt, kAlarm, kOk},
  };
  check(2, 3, rows);
}

TEST(AlarmRules, DoNotAlarmOnAFirstDatapointThatIsTooYoung) {
  for (const char* data : {"- - - - X", "- - - X -"}) {
    for (const AlarmState current : {kOk, kInsufficientData})
      EXPECT_EQ(evaluate_alarm({3, 3, 5}, points(data), current).state, current) << data;
  }
}

TEST(AlarmRules, LookAtTheNewestOfTheRangeOnly) {
  const auto verdict = evaluate_alarm({3, 3, 5}, points("X X X X 0 0 0"), kAlarm);
  EXPECT_EQ(verdict.state, kOk);
  EXPECT_EQ(verdict.breaching, 0);
  EXPECT_EQ(verdict.used, 3);
  EXPECT_EQ(verdict.newest, 1.0);
}

TEST(AlarmRules, CompareAsNamed) {
  struct {
    const char* name;
    bool below, equal, above;
  } const rows[] = {{"GreaterThanThreshold", false, false, true},
                    {"GreaterThanOrEqualToThreshold", false, true, true},
                    {"LessThanThreshold", true, false, false},
                    {"LessThanOrEqualToThreshold", true, true, false}};
  for (const auto& row : rows) {
    const auto comparison = parse_comparison(row.name);
    ASSERT_TRUE(comparison) << row.name;
    EXPECT_EQ(breaches(*comparison, 4, 5), row.below) << row.name;
    EXPECT_EQ(breaches(*comparison, 5, 5), row.equal) << row.name;
    EXPECT_EQ(breaches(*comparison, 6, 5), row.above) << row.name;
  }
  EXPECT_FALSE(parse_comparison("LessThanLowerThreshold"));
}

TEST(AlarmRules, EvaluateHighResolutionEveryTenSeconds) {
  EXPECT_EQ(evaluation_interval_s(10), 10);
  EXPECT_EQ(evaluation_interval_s(30), 10);
  EXPECT_EQ(evaluation_interval_s(60), 60);
  EXPECT_EQ(evaluation_interval_s(300), 60);
}

}  // namespace
}  // namespace headroom::capacity
