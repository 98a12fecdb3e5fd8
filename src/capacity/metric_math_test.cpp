// Metric math: a table of expressions over three small series.
#include "capacity/metric_math.hpp"

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

// a: 60 s apart without a hole; b: one datapoint missing; c: only the first.
const std::vector<MathQuery> kMetrics{
    {"a", "", {{0, 1}, {60, 4}, {120, 10}}, 60}, {"b", "", {{0, 2}, {120, 5}}, 60}, {"c", "", {{0, 0}}, 60}};
const MathGrid kGrid{0, 180, 60};

base::Result<MathValue> value(const std::string& expression) {
  auto queries = kMetrics;
  queries.push_back({"e", expression});
  auto all = evaluate_math(queries, kGrid);
  if (!all) return tl::unexpected(all.error());
  return all->at("e");
}

TEST(MetricMath, GivesSeries) {
  struct {
    const char* expression;
    TimeSeries expected;
  } const rows[] = {
      {"a", {{0, 1}, {60, 4}, {120, 10}}},
      {"a + b * 2", {{0, 5}, {120, 20}}},
      {"(a + b) * 2", {{0, 6}, {120, 30}}},
      {"-a + 1", {{0, 0}, {60, -3}, {120, -9}}},
      {"a / c", {}},
      {"10 / a", {{0, 10}, {60, 2.5}, {120, 1}}},
      {"2 ^ b", {{0, 4}, {120, 32}}},
      {"a > 3", {{0, 0}, {60, 1}, {120, 1}}},
      {"a > 3 AND a < 9", {{0, 0}, {60, 1}, {120, 0}}},
      {"a < 3 || b == 5", {{0, 1}, {120, 1}}},
      {"SUM([a, b])", {{0, 3}, {60, 4}, {120, 15}}},
      {"AVG([a, b])", {{0, 1.5}, {60, 4}, {120, 7.5}}},
      {"MAX([a, b, c])", {{0, 2}, {60, 4}, {120, 10}}},
      {"MIN(METRICS())", {{0, 0}, {60, 4}, {120, 5}}},
      {"SUM(METRICS(\"b\"))", {{0, 2}, {120, 5}}},
      {"FILL(b, 0)", {{0, 2}, {60, 0}, {120, 5}}},
      {"FILL(b, REPEAT)", {{0, 2}, {60, 2}, {120, 5}}},
      {"FILL(b, LINEAR)", {{0, 2}, {60, 3.5}, {120, 5}}},
      {"FILL(c, LINEAR)", {{0, 0}}},
      {"RATE(a)", {{60, 0.05}, {120, 0.1}}},
      {"DIFF(b)", {{120, 3}}},
      {"RUNNING_SUM(a)", {{0, 1}, {60, 5}, {120, 15}}},
      {"b / PERIOD(b)", {{0, 2.0 / 60}, {120, 5.0 / 60}}},
      {"TIME_SERIES(7)", {{0, 7}, {60, 7}, {120, 7}}},
      {"IF(a > 3, b, 0)", {{0, 0}, {120, 5}}},
      {"IF(a > 3, 1)", {{60, 1}, {120, 1}}},
      {"IF(SUM(a) > 3, a, b)", {{0, 1}, {60, 4}, {120, 10}}},
      {"FLOOR(a / 3) + CEIL(a / 3)", {{0, 1}, {60, 3}, {120, 7}}},
      {"FIRST([b, a])", {{0, 2}, {120, 5}}},
  };
  for (const auto& row : rows) {
    const auto got = value(row.expression);
    ASSERT_TRUE(got) << row.expression << ": " << got.error().message;
    ASSERT_TRUE(std::holds_alternative<TimeSeries>(*got)) << row.expression;
    EXPECT_EQ(std::get<TimeSeries>(*got), row.expected) << row.expression;
  }
}

TEST(MetricMath, OfNoDatapointGivesNone) {
  for (const char* expression : {"SUM(none)", "AVG(none)", "MAX(none)", "MIN(none)", "STDDEV(none)",
                                 "MAX(none) > 0", "IF(MAX(none) < 1, 1, 0)"}) {
    const auto all = evaluate_math({{"none", ""}, {"e", expression}}, kGrid);
    ASSERT_TRUE(all) << expression;
    EXPECT_EQ(all->at("e"), MathValue{TimeSeries{}}) << expression;
  }
}

TEST(MetricMath, GivesNumbers) {
  struct {
    const char* expression;
    double expected;
  } const rows[] = {{"SUM(a)", 15},    {"AVG(a)", 5},     {"MAX(a) - MIN(b)", 8}, {"METRIC_COUNT([a, b])", 2},
                    {"PERIOD(a)", 60}, {"2 * 3 ^ 2", 18}, {"1 - 2 - 3", -4},      {"ABS(-2)", 2}};
  for (const auto& row : rows) {
    const auto got = value(row.expression);
    ASSERT_TRUE(got) << row.expression << ": " << got.error().message;
    EXPECT_EQ(std::get<double>(*got), row.expected) << row.expression;
  }
}

TEST(MetricMath, RefusesAndSaysWhat) {
  struct {
    const char *expression, *part;
  } const rows[] = {{"a +", "ends too early"},      {"a b", "unexpected 'b'"},
                    {"SEARCH('x')", "SEARCH"},      {"FILL(a)", "takes 2 to 2"},
                    {"nothing + 1", "'nothing'"},   {"(a", "')' is missing"},
                    {"e + 1", "depends on itself"}, {"IF([a], 1, 2)", "no lists"},
                    {"1 / 0", "divides by zero"},   {"\"a", "does not end"}};
  for (const auto& row : rows) {
    const auto got = value(row.expression);
    ASSERT_FALSE(got) << row.expression;
    EXPECT_NE(got.error().message.find(row.part), std::string::npos) << got.error().message;
  }
  EXPECT_FALSE(value(std::string(200, '(') + "a" + std::string(200, ')')));
  EXPECT_FALSE(value(std::string(1000, '-') + "a"));
}

TEST(MetricMath, ComputesThePlansScaleInAlarm) {
  // Rate 12/s on three instances; the line is 7/s: spare capacity for two instances is 14/s.
  std::vector<MathQuery> queries{
      {"i", "", {{0, 720}}, 60}, {"p", "", {{0, 240}}, 60}, {"e", "IF(p > 0, i / 60 - 7 * (i / p - 1), -1)"}};
  auto all = evaluate_math(queries, {0, 60, 60});
  ASSERT_TRUE(all);
  EXPECT_EQ(std::get<TimeSeries>(all->at("e")), (TimeSeries{{0, -2}}));
}

TEST(MetricMath, ChecksFormWithoutData) {
  EXPECT_TRUE(check_math("IF(p > 0, FILL(i, REPEAT), -1)", {"i", "p"}));
  EXPECT_FALSE(check_math("i + k", {"i"}));
  EXPECT_FALSE(check_math("REPEAT + i", {"i"}));
  EXPECT_FALSE(check_math("ANOMALY_DETECTION_BAND(i)", {"i"}));
}

}  // namespace
}  // namespace headroom::capacity
