// The simulation against what can be computed by hand, and policies at work in it.
#include "capacity/simulation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "capacity/plan.hpp"
#include "capacity/published_fixture.hpp"

namespace headroom::capacity {
namespace {

constexpr double kMu = 17.87;

SimSetup one_instance() {
  SimSetup setup;
  setup.service = make_service_model(kMu, 0.0600, 0, {});
  setup.start.stage_s = {200, 60};
  setup.queue_limit = 50;
  return setup;
}

SimResult run(const SimSetup& setup, const Profile& profile, Scaler& scaler, std::uint64_t seed = 1) {
  auto arrivals = poisson(profile, seed);
  auto result = simulate(setup, *arrivals, scaler);
  EXPECT_TRUE(result);
  EXPECT_EQ(result->offered, result->good + result->late + result->refused);
  return *result;
}

TEST(ServiceModel, AnIdleInstanceTakesTheMeasuredTimeAndAFullOneGivesTheMeasuredThroughput) {
  const ServiceModel one = make_service_model(17.87, 0.0600, 0, {});
  EXPECT_EQ(one.workers, 1);
  EXPECT_NEAR(one.mean_s + one.overhead_s, 0.0600, 1e-12);
  EXPECT_NEAR(one.workers / one.mean_s, 17.87, 1e-9);
  const ServiceModel three = make_service_model(6, 0.6, 0, {});  // 3.6 workers' worth
  EXPECT_EQ(three.workers, 3);
  EXPECT_NEAR(three.workers / three.mean_s, 6, 1e-9);
}

TEST(ServiceModel, DrawsFromTheMeasuredTimesOrFromALognormalOfTheirSpread) {
  const ServiceModel measured = make_service_model(10, 0.1, 0, {0.05, 0.15});
  ASSERT_EQ(measured.relative.size(), 2U);
  EXPECT_NEAR(measured.relative[0], 0.5, 1e-12);
  const ServiceModel spread = make_service_model(10, 0.1, 0.5, {});
  double mean = 0, square = 0;
  for (const double r : spread.relative) {
    mean += r / static_cast<double>(spread.relative.size());
    square += r * r / static_cast<double>(spread.relative.size());
  }
  EXPECT_NEAR(mean, 1, 1e-9);
  EXPECT_NEAR(std::sqrt(square - 1), 0.5, 0.1);
}

TEST(CompactSample, KeepsFewTimesWholeAndOfManyTheirQuantiles) {
  EXPECT_EQ(compact_sample({3, 1, 2}), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(compact_sample({NAN, 2, -1, INFINITY, 0}), std::vector<double>{2});
  std::vector<double> many;
  for (int i = 0; i < 1000; ++i) many.push_back(1000 - i);  // 1..1000, the largest first
  const auto kept = compact_sample(many, 10);
  EXPECT_EQ(kept, (std::vector<double>{51, 151, 251, 351, 451, 551, 651, 751, 851, 951}));
}

TEST(CompactSample, OfATwoHumpedServiceKeepsBothHumpsWhichALognormalDoesNot) {
  std::vector<double> times;
  for (int i = 0; i < 900; ++i) times.push_back(0.05);
  for (int i = 0; i < 100; ++i) times.push_back(0.5);
  const ServiceModel model = make_service_model(10, 0.095, 0, compact_sample(times));
  for (const double r : model.relative)
    EXPECT_TRUE(std::abs(r - 0.05 / 0.095) < 0.02 || std::abs(r - 0.5 / 0.095) < 0.2) << r;
}

// M/D/1 at utilisation 0.8: the mean number in the system is rho + rho^2 / (2 (1 - rho)) = 2.4.
TEST(Simulation, AQueueIsAsLongAsTheFormulaSays) {
  SimSetup setup = one_instance();
  setup.service.overhead_s = 0;
  setup.queue_limit = 0;
  const Profile profile{"flat", std::vector<double>(40'000, 0.8 * kMu)};
  auto scaler = static_scaler();
  const SimResult result = run(setup, profile, *scaler);
  double level = 0, busy = 0;
  for (const SimBucket& bucket : result.timeline) {
    level += bucket.level_mean / static_cast<double>(result.timeline.size());
    busy += bucket.busy / static_cast<double>(result.timeline.size());
  }
  EXPECT_NEAR(level, 2.4, 0.12);
  EXPECT_NEAR(busy, 0.8, 0.01);
  EXPECT_NEAR(result.instance_hours, 40'000.0 / 3600, 1e-6);
}

TEST(Simulation, BeyondItsThroughputAnInstanceRefusesTheRestAndServesTheOthersWithinItsLimit) {
  const Profile profile{"twice", std::vector<double>(2000, 2 * kMu)};
  auto scaler = static_scaler();
  const SimResult result = run(one_instance(), profile, *scaler);
  EXPECT_NEAR(static_cast<double>(result.refused) / static_cast<double>(result.offered), 0.5, 0.02);
  EXPECT_EQ(result.late, 0U);  // 50 x 56 ms
  EXPECT_LT(*result.p99_s, 2.9);
}

TEST(Simulation, IsTheSameForTheSameSeedAndDiffersForAnother) {
  const Profile profile{"flat", std::vector<double>(600, 15.0)};
  auto scaler = static_scaler();
  SimSetup setup = one_instance();
  setup.service = make_service_model(kMu, 0.06, 0.5, {});
  const SimResult a = run(setup, profile, *scaler), b = run(setup, profile, *scaler);
  setup.seed = 2;
  const SimResult c = run(setup, profile, *scaler);
  EXPECT_EQ(a.p95_s, b.p95_s);
  EXPECT_NE(a.p95_s, c.p95_s);
}

TEST(Simulation, RefusesASetupThatMakesNoSense) {
  auto scaler = static_scaler();
  auto arrivals = poisson({"flat", {1, 1}}, 1);
  SimSetup setup = one_instance();
  setup.bounds.minimum = 0;
  EXPECT_FALSE(simulate(setup, *arrivals, *scaler));
  setup = one_instance();
  setup.service.mean_s = 0;
  EXPECT_FALSE(simulate(setup, *arrivals, *scaler));
}

Plan plan_for(Rule rule, Carrier carrier, double trough, double peak) {
  PlanInput input = test::published_input();
  input.rule = rule;
  input.carrier = carrier;
  input.trough_rps = trough;
  input.peak_rps = peak;
  const auto plan = make_plan(input);
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

SimResult with_policy(const Plan& plan, const std::string& load, double base_rps) {
  SimSetup setup = one_instance();
  setup.bounds = {plan.min_instances, plan.max_instances, false, false};
  setup.initial = std::max(plan.min_instances, ceil_up(base_rps / (plan.utilisation * kMu)));
  auto profile = make_profile(load, {base_rps, 260}, 1);
  EXPECT_TRUE(profile);
  auto scaler = policy_scaler(plan.policy, setup.bounds, CapacityBase::kInService);
  return run(setup, *profile, *scaler);
}

// What the study found, and why the recommended rule exists.
TEST(Simulation, TheRecommendedRuleCarriesAStepOfItsGrowthAndThePublishedOneDoesNot) {
  const Plan recommended = plan_for(Rule::kRecommended, Carrier::kOfferedRate, 90, 112.5);
  EXPECT_GT(*with_policy(recommended, "step:1.25", 90).share_within_slo(), 0.999);
  const Plan published = plan_for(Rule::kPublished, Carrier::kConcurrency, 90, 112.5);
  EXPECT_LT(*with_policy(published, "step:1.25", 90).share_within_slo(), 0.9);
}

TEST(Simulation, AFleetGrowsUnderLoadAndComesBackToItsMinimumWithoutIt) {
  const Plan plan = plan_for(Rule::kRecommended, Carrier::kNative, 10, 100);
  SimSetup setup = one_instance();
  setup.bounds = {plan.min_instances, plan.max_instances, false, false};
  setup.initial = plan.min_instances;
  Profile profile{"on and off", std::vector<double>(3600, 60.0)};
  profile.rate_rps.insert(profile.rate_rps.end(), 7200, 0.0);
  auto scaler = policy_scaler(plan.policy, setup.bounds, CapacityBase::kInService);
  const SimResult result = run(setup, profile, *scaler);
  EXPECT_GE(result.most, 5);
  EXPECT_EQ(result.timeline.back().in_service, plan.min_instances);
  EXPECT_EQ(result.turns, 1);
}

// Were the desired count multiplied instead of the one in service, a cooldown as long as a start keeps both
// alike: the plan is safe under either reading of AWS.
TEST(Simulation, ThePlanDoesTheSameWhicheverCountIsMultiplied) {
  const Plan plan = plan_for(Rule::kRecommended, Carrier::kOfferedRate, 10, 100);
  SimSetup setup = one_instance();
  setup.start.spread = 0;
  setup.bounds = {plan.min_instances, plan.max_instances, false, false};
  setup.initial = plan.min_instances;
  const Profile profile{"much", std::vector<double>(1800, 60.0)};
  auto in_service = policy_scaler(plan.policy, setup.bounds, CapacityBase::kInService);
  auto desired = policy_scaler(plan.policy, setup.bounds, CapacityBase::kDesired);
  EXPECT_EQ(run(setup, profile, *in_service).most, run(setup, profile, *desired).most);
}

TEST(Simulation, RivalsScaleOutAndInAgain) {
  SimSetup setup = one_instance();
  setup.bounds = {1, 12, false, false};
  Profile profile{"hill", std::vector<double>(3600, 60.0)};
  profile.rate_rps.insert(profile.rate_rps.end(), 9000, 1.0);
  for (const char* kind : {"cpu", "invocations", "hpa", "slope"}) {
    const std::string name = kind;
    auto scaler = name == "hpa" ? hpa_scaler(0.7)
                  : name == "slope"
                      ? slope_scaler(kMu, 290, 0.2)
                      : policy_scaler(rival_policy(name, kMu), setup.bounds, CapacityBase::kInService);
    const SimResult result = run(setup, profile, *scaler);
    EXPECT_GE(result.most, 4) << name;
    EXPECT_EQ(result.timeline.back().in_service, 1) << name;
  }
}

}  // namespace
}  // namespace headroom::capacity
