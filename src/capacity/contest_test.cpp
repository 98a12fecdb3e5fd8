// Policies side by side on the loads of the capacity study, held to what a plan promises.
#include "capacity/contest.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "capacity/policy_search.hpp"
#include "capacity/published_fixture.hpp"

namespace headroom::capacity {
namespace {

// Half the published start, so that a load of ten starts is simulated in half the time.
constexpr double kStartS = 130;
constexpr double kHorizonS = 30 + 130 + kStartS;  // three periods, the cooldown, the start
constexpr LoadScale kScale{90, kStartS};

struct Outcome {
  ContestRow row;
  double growth = 1, static_hours = 0;
};

Outcome run_on(const std::string& words, Carrier carrier, double planned_growth, std::uint64_t seed) {
  const auto profile = make_profile(words, kScale, seed);
  EXPECT_TRUE(profile);
  const ContestLoad load = contest_load(*profile);
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.measured_total_s = kStartS;
  input.carrier = carrier;
  input.peak_rps = peak_rate(load.per_second);
  std::vector<double> rest(load.per_second);
  input.trough_rps = *std::min_element(rest.begin(), rest.end());
  Outcome out;
  out.growth = growth_within(load.per_second, kHorizonS).value_or(1);
  input.headroom = std::max(planned_growth, 1.0);
  const auto plan = make_plan(input);
  EXPECT_TRUE(plan) << plan.error().message;
  auto rules = contest_rules(input);
  EXPECT_TRUE(rules);
  rules->start.stage_s = {kStartS};
  EXPECT_EQ(rules->horizon_s, kHorizonS);
  rules->seed = seed;
  for (const Contender& contender : contenders(input, *plan, false)) {
    if (contender.name == "static")
      out.static_hours = contender.bounds.minimum * static_cast<double>(load.per_second.size()) / 3600;
    if (contender.name != "plan") continue;
    auto row = compete(*rules, load, contender);
    EXPECT_TRUE(row);
    out.row = *row;
  }
  return out;
}

class PlannedGrowth : public testing::TestWithParam<const char*> {};

// At the load's own growth: at least 99.9 % within the SLO, at no more than 1.15 g times the clairvoyant and
// 1.05 times the static fleet; the native carrier may cost 1.15 times that.
TEST_P(PlannedGrowth, IsServedWithinTheSloAtTheCostThatIsPromised) {
  for (const Carrier carrier : {Carrier::kOfferedRate, Carrier::kNative}) {
    const auto probe = make_profile(GetParam(), kScale, 3);
    ASSERT_TRUE(probe);
    const double g = growth_within(probe->rate_rps, kHorizonS).value_or(1);
    const Outcome out = run_on(GetParam(), carrier, g, 3);
    const double slack = carrier == Carrier::kNative ? 1.15 : 1.0;
    EXPECT_GE(*out.row.share_within_slo, 0.999) << carrier_name(carrier);
    const double clairvoyant = out.row.instance_hours / *out.row.vs_clairvoyant;
    EXPECT_LE(out.row.instance_hours, slack * std::min(1.15 * g * clairvoyant, 1.05 * out.static_hours))
        << carrier_name(carrier) << ": " << *out.row.vs_clairvoyant << " x the clairvoyant";
  }
}
INSTANTIATE_TEST_SUITE_P(Loads, PlannedGrowth,
                         testing::Values("step:1.25", "step:2", "step:5", "ramp:2:2", "ramp:2:4",
                                         "square:2:0.5", "square:2:1", "square:2:2", "markov:60:120"));

// Direction changes are counted, and a fleet at its safe minimum does not flap under a square wave.
TEST(SquareWave, DirectionChangesAreCountedAndTheFleetDoesNotFlap) {
  for (const char* words : {"square:2:0.5", "square:2:2"}) {
    const Outcome out = run_on(words, Carrier::kOfferedRate, 2, 1);
    const double hours = out.row.timeline.size() * 10.0 / 3600;
    const double waves = 3600 / (std::stod(std::string(words).substr(9)) * kStartS);
    EXPECT_LE(out.row.turns_per_hour, 2 * waves) << words;  // once up and once down in each wave, at most
    EXPECT_GT(hours, 1);
  }
}

TEST(Contest, TheSameArrivalsMeetEveryContender) {
  const auto profile = make_profile("step:2", kScale, 1);
  ASSERT_TRUE(profile);
  PlanInput input = test::published_input();
  input.peak_rps = 180;
  input.trough_rps = 90;
  const auto rules = contest_rules(input);
  ASSERT_TRUE(rules);
  const ContestLoad load = contest_load(*profile);
  std::optional<std::uint64_t> offered;
  const auto all = contenders(input, std::nullopt, true);
  EXPECT_EQ(all.size(), 8U);
  for (const Contender& contender : all) {
    const auto row = compete(*rules, load, contender);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->offered, offered.value_or(row->offered)) << contender.name;
    offered = row->offered;
  }
}

TEST(Surges, ThePublishedRuleShedsInNearlyEveryOneAndTheRecommendedInNone) {
  for (const Rule rule : {Rule::kPublished, Rule::kRecommended}) {
    PlanInput input = test::published_input();
    input.rule = rule;
    input.carrier = Carrier::kOfferedRate;
    input.trough_rps = 60;
    input.peak_rps = 200;
    input.simulate = true;
    const auto plan = make_plan(input);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto finding = std::find_if(plan->findings.begin(), plan->findings.end(),
                                      [](const Finding& f) { return f.id == "surge_survival"; });
    ASSERT_NE(finding, plan->findings.end());
    EXPECT_EQ(finding->level, rule == Rule::kPublished ? Level::kWarn : Level::kOk) << finding->evidence;
  }
}

TEST(PlanSimulation, FillsTheAlternativesOrLeavesThemUnknown) {
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.trough_rps = 20;
  input.peak_rps = 100;
  auto plan = make_plan(input);
  ASSERT_TRUE(plan);
  for (const Alternative& a : plan->alternatives) EXPECT_FALSE(a.share_within_slo) << a.name;
  EXPECT_TRUE(plan->simulated_load.empty());
  input.simulate = true;
  plan = make_plan(input);
  ASSERT_TRUE(plan);
  for (const Alternative& a : plan->alternatives) {
    ASSERT_TRUE(a.share_within_slo) << a.name;
    ASSERT_TRUE(a.instance_hours) << a.name;
  }
  input.peak_rps = 5000;  // too much for a plan
  plan = make_plan(input);
  ASSERT_TRUE(plan);
  for (const Alternative& a : plan->alternatives) EXPECT_FALSE(a.share_within_slo) << a.name;
}

// The search meets days it has not seen at no more than 1.15 times the clairvoyant.
TEST(PolicySearch, WhatItFindsOnOneDayHoldsOnAnother) {
  auto seen = make_profile("day:7", kScale, 3), fresh = make_profile("day:7", kScale, 4);
  ASSERT_TRUE(seen && fresh);
  for (Profile* day : {&*seen, &*fresh}) {  // the steepest three hours, to keep the test short
    day->rate_rps.erase(day->rate_rps.begin(), day->rate_rps.begin() + 5 * 3600);
    day->rate_rps.resize(3 * 3600);
  }
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.carrier = Carrier::kOfferedRate;
  input.headroom = 1.2;
  input.measured_total_s = kStartS;
  input.trough_rps = 30;
  input.peak_rps = 110;
  auto rules = contest_rules(input);
  ASSERT_TRUE(rules);
  rules->start.stage_s = {kStartS};
  const auto found = search_policy(input, *rules, contest_load(*seen), 1);
  ASSERT_TRUE(found) << found.error().message;
  input.utilisation = found->utilisation;
  input.scale_in_share = found->scale_in_share;
  const auto plan = make_plan(input);
  ASSERT_TRUE(plan);
  rules->seed = 77;
  const auto row = compete(*rules, contest_load(*fresh), contenders(input, *plan, false).front());
  ASSERT_TRUE(row);
  EXPECT_GE(*row->share_within_slo, 0.999);
  EXPECT_LE(*row->vs_clairvoyant, 1.15);
}

TEST(PolicySearch, SaysWhereNothingHolds) {
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.carrier = Carrier::kOfferedRate;
  input.trough_rps = 1;
  input.peak_rps = 450;
  Profile jump{"jump", std::vector<double>(1200, 1.0)};  // longer than H: nobody sees it coming
  jump.rate_rps.resize(1500, 450.0);
  auto rules = contest_rules(input);
  ASSERT_TRUE(rules);
  const auto found = search_policy(input, *rules, contest_load(jump), 1);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("static fleet"), std::string::npos);
}

TEST(PlanSensitivity, ShorterStartsNeedLessSpareAndALowerQMaxALowerLimit) {
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.headroom = 2;
  input.trough_rps = 20;
  input.peak_rps = 100;
  const auto plan = make_plan(input);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->sensitivity.size(), 4U);
  EXPECT_GT(*plan->sensitivity[0].utilisation, plan->utilisation);
  EXPECT_EQ(*plan->sensitivity[1].queue_limit, 45);
  EXPECT_GT(*plan->sensitivity[3].max_instances, plan->max_instances);
}

TEST(PlanCost, IsUnknownWithoutAPriceAndComputedWithOne) {
  PlanInput input = test::published_input();
  input.rule = Rule::kRecommended;
  input.trough_rps = 20;
  input.peak_rps = 100;
  auto plan = make_plan(input);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->cost.per_hour_at_peak_usd);
  input.price_per_hour_usd = 1.408;
  plan = make_plan(input);
  ASSERT_TRUE(plan);
  EXPECT_DOUBLE_EQ(*plan->cost.per_hour_at_peak_usd, 1.408 * plan->max_instances);
  EXPECT_FALSE(plan->cost.per_million_characters_usd);
  EXPECT_FALSE(plan->cost.per_month_usd);
  input.characters_per_request = 25;
  input.simulate = true;
  plan = make_plan(input);
  ASSERT_TRUE(plan);
  // 1.408 USD an hour for 0.8 x 17.87 requests/s of 25 characters.
  EXPECT_NEAR(*plan->cost.per_million_characters_usd, 1.408 / (0.8 * 17.87 * 25 * 3600) * 1e6, 1e-6);
  EXPECT_GT(*plan->cost.per_month_usd, 1.408 * plan->min_instances * 700);
}

}  // namespace
}  // namespace headroom::capacity
