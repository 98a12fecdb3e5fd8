// Scaling rules: tables of steps, percentages, cooldowns and choices.
#include "capacity/scaling_rules.hpp"

#include <gtest/gtest.h>

namespace headroom::capacity {
namespace {

using enum CapacityBase;

StepRule steps(const char* type, std::vector<StepRow> rows, int cooldown_s = 300,
               std::optional<int> least = {}) {
  return {type, std::move(rows), cooldown_s, least, "Average"};
}

const StepRule kNative =
    steps("PercentChangeInCapacity", {{0.0, 10.0, 25}, {10.0, 60.0, 50}, {60.0, {}, 100}}, 260, 1);
const StepRule kMinusOne = steps("ChangeInCapacity", {{{}, 0.0, -1}}, 960);
const TargetTrackingRule kPublished{
    37.5, "SageMakerVariantConcurrentRequestsPerModelHighResolution", true, 30, {}};

TEST(StepScaling, FindsTheStepOfABreach) {
  struct {
    double breach;
    std::optional<int> up, down;
  } const rows[] = {{0, 25, -1},   {9.99, 25, {}}, {10, 50, {}},    {59, 50, {}},
                    {60, 100, {}}, {1e6, 100, {}}, {-0.01, {}, -1}, {-25, {}, -1}};
  for (const auto& row : rows) {
    EXPECT_EQ(step_adjustment(kNative, row.breach), row.up) << row.breach;
    EXPECT_EQ(step_adjustment(kMinusOne, row.breach), row.down) << row.breach;
  }
  // Below the threshold the lower bound is exclusive, the upper inclusive.
  const StepRule in = steps("ChangeInCapacity", {{{}, -10.0, -3}, {-10.0, 0.0, -1}});
  EXPECT_EQ(step_adjustment(in, -10), -3);
  EXPECT_EQ(step_adjustment(in, -9.99), -1);
}

TEST(StepScaling, AdjustsAsEachTypeSays) {
  struct {
    const char* type;
    int base, adjustment, least, expected;
  } const rows[] = {
      {"ChangeInCapacity", 3, 2, 0, 5},
      {"ChangeInCapacity", 3, -4, 0, 0},
      {"ExactCapacity", 3, 7, 0, 7},
      {"PercentChangeInCapacity", 10, 25, 0, 12},
      {"PercentChangeInCapacity", 1, 25, 0, 2},
      {"PercentChangeInCapacity", 2, 25, 0, 3},
      {"PercentChangeInCapacity", 4, 25, 3, 7},
      {"PercentChangeInCapacity", 10, -25, 0, 8},
      {"PercentChangeInCapacity", 2, -25, 0, 1},
      {"PercentChangeInCapacity", 10, 0, 2, 10},
      {"PercentChangeInCapacity", 0, 100, 1, 1},
  };
  for (const auto& row : rows)
    EXPECT_EQ(adjusted(steps(row.type, {}, 0, row.least), row.base, row.adjustment), row.expected)
        << row.type << " " << row.base << " " << row.adjustment;
}

TEST(StepScaling, AggregatesWhatIsThere) {
  const std::optional<double> points[] = {std::nullopt, 4.0, 1.0, std::nullopt, 7.0};
  EXPECT_EQ(aggregate("Average", points), 4.0);
  EXPECT_EQ(aggregate("Minimum", points), 1.0);
  EXPECT_EQ(aggregate("Maximum", points), 7.0);
  const std::optional<double> none[] = {std::nullopt};
  EXPECT_EQ(aggregate("Maximum", none), std::nullopt);
}

TEST(TargetTracking, AsksInProportionRoundedUp) {
  struct {
    int base;
    double metric;
    int expected;
  } const rows[] = {{1, 50, 2}, {2, 50, 3}, {3, 50, 4},          {3, 37.5, 3},
                    {9, 5, 2},  {4, 0, 0},  {1, 1e12, 1'000'000}};
  for (const auto& row : rows)
    EXPECT_EQ(tracked(kPublished, row.base, row.metric), row.expected) << row.metric;
}

TEST(TargetTracking, NeverScalesInWhereThatIsDisabled) {
  const auto proposal = propose_tracking(kPublished, {5, 5}, {}, kInService, 0, 3, false);
  EXPECT_FALSE(proposal.in);
  TargetTrackingRule both = kPublished;
  both.disable_scale_in = false;
  const auto allowed = propose_tracking(both, {5, 5}, {}, kInService, 0, 3, false);
  EXPECT_TRUE(allowed.in);
  EXPECT_EQ(allowed.capacity, 1);
  EXPECT_EQ(allowed.cooldown_s, kDefaultCooldownS);
}

// A load that fills every instance, whose instances take long to start: the count over time.
std::vector<int> surge(CapacityBase base, int start_s, int cooldown_s) {
  TargetTrackingRule rule = kPublished;
  rule.scale_out_cooldown_s = cooldown_s;
  ScalingMemory memory;
  std::vector<std::pair<int, int>> ready;  // when, how many
  Fleet fleet{2, 2};
  std::vector<int> seen{fleet.desired};
  for (int now = 0; now <= 120; now += 10) {
    for (auto& [at, count] : ready) {
      if (at <= now) fleet.in_service += std::exchange(count, 0);
    }
    const Proposal p = propose_tracking(rule, fleet, memory, base, now, 50, true);
    const auto decision = decide(fleet, {1, 9}, memory, {&p, 1}, false, now);
    if (!decision.desired) continue;
    note_scaled(memory, decision, fleet, now);
    ready.emplace_back(now + start_s, *decision.desired - fleet.desired);
    fleet.desired = *decision.desired;
    seen.push_back(fleet.desired);
  }
  return seen;
}

TEST(TargetTracking, CompoundsOnTheDesiredCountAloneWhileInstancesStart) {
  EXPECT_EQ(surge(kInService, 1000, 30), (std::vector{2, 3}));
  EXPECT_EQ(surge(kDesired, 1000, 30), (std::vector{2, 3, 4, 6, 8, 9}));
  EXPECT_EQ(surge(kDesired, 1000, 300), (std::vector{2, 3}));
  EXPECT_EQ(surge(kInService, 20, 30), (std::vector{2, 3, 4, 6, 8, 9}));
}

TEST(Cooldown, CountsWhatTheFirstActivityAdded) {
  const StepRule two = steps("ChangeInCapacity", {{0.0, 20.0, 2}, {20.0, {}, 3}});
  ScalingMemory memory;
  Fleet fleet{4, 4};
  Proposal p = propose_step(two, fleet, memory, kInService, 0, 5);
  auto decision = decide(fleet, {1, 20}, memory, {&p, 1}, false, 0);
  ASSERT_EQ(decision.desired, 6);
  note_scaled(memory, decision, fleet, 0);
  fleet = {6, 6};
  p = propose_step(two, fleet, memory, kInService, 60, 5);
  EXPECT_EQ(decide(fleet, {1, 20}, memory, {&p, 1}, false, 60).why, NotScaled::kCooling);
  // The guide's example: three more are asked for, two were added, one is.
  p = propose_step(two, fleet, memory, kInService, 60, 25);
  EXPECT_EQ(decide(fleet, {1, 20}, memory, {&p, 1}, false, 60).desired, 7);
  p = propose_step(two, fleet, memory, kInService, 300, 5);
  EXPECT_EQ(decide(fleet, {1, 20}, memory, {&p, 1}, false, 300).desired, 8);
}

TEST(Cooldown, BlocksScaleInUntilItEndsOrScaleOutBreaksIt) {
  ScalingMemory memory;
  Fleet fleet{5, 5};
  Proposal in = propose_step(kMinusOne, fleet, memory, kInService, 0, -3);
  auto decision = decide(fleet, {1, 9}, memory, {&in, 1}, false, 0);
  ASSERT_EQ(decision.desired, 4);
  note_scaled(memory, decision, fleet, 0);
  fleet = {4, 4};
  in = propose_step(kMinusOne, fleet, memory, kInService, 959, -3);
  EXPECT_EQ(decide(fleet, {1, 9}, memory, {&in, 1}, false, 959).why, NotScaled::kCooling);
  EXPECT_EQ(decide(fleet, {1, 9}, memory, {&in, 1}, false, 960).desired, 3);
  const Proposal out = propose_tracking(kPublished, fleet, memory, kInService, 100, 50, true);
  decision = decide(fleet, {1, 9}, memory, {&out, 1}, false, 100);
  ASSERT_EQ(decision.desired, 6);
  note_scaled(memory, decision, fleet, 100);
  EXPECT_FALSE(memory.in_cooling(101));
}

TEST(Decision, TakesTheLargestCapacityAndOutBeforeIn) {
  Proposal small, large, in;
  small.out = large.out = in.in = true;
  small.capacity = 5;
  large.capacity = 8;
  in.capacity = 2;
  const Proposal all[] = {in, small, large};
  EXPECT_EQ(decide({4, 4}, {1, 20}, {}, all, false, 0).desired, 8);
  Proposal less = in;
  less.capacity = 3;
  const Proposal ins[] = {in, less};
  EXPECT_EQ(decide({4, 4}, {1, 20}, {}, ins, false, 0).desired, 3);
}

TEST(Decision, SaysWhyNothingChanges) {
  Proposal out, in;
  out.out = in.in = true;
  out.capacity = 12;
  in.capacity = 3;
  struct {
    Proposal p;
    Fleet fleet;
    Bounds bounds;
    std::optional<int> desired;
    NotScaled why;
  } const rows[] = {
      {out, {4, 4}, {1, 9}, 9, NotScaled::kScaled},
      {out, {9, 9}, {1, 9}, {}, NotScaled::kAtMaximum},
      {out, {4, 4}, {1, 9, false, true}, {}, NotScaled::kSuspended},
      {out, {4, 4}, {1, 9, true, false}, 9, NotScaled::kScaled},
      {out, {12, 4}, {1, 20}, {}, NotScaled::kAtDesired},
      {in, {4, 4}, {1, 9}, 3, NotScaled::kScaled},
      {in, {4, 4}, {4, 9}, {}, NotScaled::kAtMinimum},
      {in, {4, 4}, {1, 9, true, false}, {}, NotScaled::kSuspended},
      {Proposal{}, {4, 4}, {1, 9}, {}, NotScaled::kContent},
  };
  for (const auto& row : rows) {
    const auto decision = decide(row.fleet, row.bounds, {}, {&row.p, 1}, false, 0);
    EXPECT_EQ(decision.desired, row.desired);
    EXPECT_EQ(decision.why, row.why);
  }
}

TEST(Decision, LetsTrackingInOnlyWhenAllPoliciesAgree) {
  Proposal in;
  in.in = in.tracking = true;
  in.capacity = 2;
  EXPECT_EQ(decide({4, 4}, {1, 9}, {}, {&in, 1}, true, 0).why, NotScaled::kOthersHold);
  EXPECT_EQ(decide({4, 4}, {1, 9}, {}, {&in, 1}, false, 0).desired, 2);
}

TEST(StepBreach, IsTheAggregateLessTheThreshold) {
  const std::vector<std::optional<double>> points{30.0, std::nullopt, 50.0};
  EXPECT_EQ(step_breach(Comparison::kGreater, 25, "Average", points), 15);
  EXPECT_EQ(step_breach(Comparison::kGreater, 25, "Maximum", points), 25);
  EXPECT_EQ(step_breach(Comparison::kLess, 60, "Minimum", points), -30);
}

TEST(StepBreach, OfAnAlarmThatRingsByMissingDataLiesBesideTheThreshold) {
  const std::vector<std::optional<double>> none(3), other_side{std::nullopt, std::nullopt, 50.0};
  StepRule in;
  in.adjustment_type = "ChangeInCapacity";
  in.steps = {{std::nullopt, 0.0, -1}};
  for (const auto& points : {none, other_side}) {
    const double breach = step_breach(Comparison::kLess, 25, "Average", points);
    EXPECT_LT(breach, 0);
    EXPECT_EQ(step_adjustment(in, breach), -1);
  }
  EXPECT_EQ(step_breach(Comparison::kGreater, 25, "Average", none), 0);
}

TEST(NewestPoint, SkipsWhatIsMissing) {
  EXPECT_EQ(newest_point(std::vector<std::optional<double>>{1.0, 2.0, std::nullopt}), 2.0);
  EXPECT_EQ(newest_point(std::vector<std::optional<double>>(3)), std::nullopt);
}

}  // namespace
}  // namespace headroom::capacity
