// Both rules, their policies and findings.
#include "capacity/plan.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/plan_rules.hpp"
#include "capacity/published_fixture.hpp"

namespace headroom::capacity {
namespace {

using base::ErrorCode;
using ::testing::HasSubstr;

PlanInput recommended(double g = 1.25) {
  PlanInput in = test::published_input();
  in.rule = Rule::kRecommended;
  in.headroom = g;
  in.peak_rps = 100;
  return in;
}

const Finding& finding(const Plan& plan, const std::string& id) {
  for (const Finding& f : plan.findings) {
    if (f.id == id) return f;
  }
  static const Finding none{"none", Level::kFail, "no such finding: ", ""};
  return none;
}

TEST(PublishedRule, GivesThePublishedColumn) {
  const auto p = make_plan(test::published_input());
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->scale_out_target, 37.5);
  EXPECT_EQ(p->scale_in_threshold, 25);
  EXPECT_EQ(p->queue_limit, 50);
  EXPECT_EQ(p->w_max_s, 2.934);
  EXPECT_EQ(p->scale_out_cooldown_s, 30);
  EXPECT_EQ(p->scale_in_cooldown_s, 960);
  EXPECT_EQ(p->unqueued_alarm_ms, 65);
  EXPECT_EQ(p->safe_scale_in_minimum, 3);
  EXPECT_EQ(p->min_instances, 1);
  EXPECT_EQ(p->max_instances, 9);
  EXPECT_EQ(p->utilisation, 0.974);
}

TEST(PublishedRule, StandsBesideAThroughputSizingThatRefusesIt) {
  const auto p = make_plan(test::published_input());
  EXPECT_EQ(p->instances_by_throughput_peak, 280);
  const Finding& f = finding(*p, "throughput_sizing");
  EXPECT_EQ(f.level, Level::kFail);
  EXPECT_THAT(f.evidence, HasSubstr("5000 requests/s need 280 instances"));
  EXPECT_THAT(f.evidence, HasSubstr("9 instances serve 161 requests/s"));
  EXPECT_EQ(p->verdict, PlanVerdict::kInfeasible);
}

TEST(PublishedRule, RefusesHeadroomOfHalf) {
  auto in = test::published_input();
  for (const double headroom : {1.5, 2.0}) {
    in.headroom = headroom;
    const auto p = make_plan(in);
    ASSERT_FALSE(p);
    EXPECT_EQ(p.error().code, ErrorCode::kInvalidArgument);
  }
  in.headroom = 1.49;
  EXPECT_TRUE(make_plan(in));
}

TEST(PublishedRule, HasNoSafeMinimumWhenBothLinesAreTheSame) {
  auto in = test::published_input();
  in.headroom = 1;
  const auto p = make_plan(in);
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->safe_scale_in_minimum);
  EXPECT_EQ(p->scale_out_target, p->scale_in_threshold);
  EXPECT_EQ(finding(*p, "scale_in_safety").level, Level::kWarn);
}

TEST(PublishedRule, RoundsTheSafeMinimumAsOnPaperAndNotAsInBinary) {
  auto in = test::published_input();
  in.headroom = 1.2;  // r/(r-1) = 0.8/0.2 = 4, in binary 4.000000000000001
  EXPECT_EQ(make_plan(in)->safe_scale_in_minimum, 4);
  in.headroom = 1.1;
  EXPECT_EQ(make_plan(in)->safe_scale_in_minimum, 9);
}

TEST(PublishedRule, WorksForAQmaxOf1) {
  auto in = test::published_input();
  in.q_max = 1;
  in.peak_rps = 30;
  const auto p = make_plan(in);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->scale_out_target, 0.75);
  EXPECT_EQ(p->queue_limit, 1);
  EXPECT_EQ(p->throughput_per_instance_rps, 16.08);
  EXPECT_EQ(p->max_instances, 3);
}

TEST(PublishedRule, ClampsItsCooldowns) {
  auto in = test::published_input();
  in.total_s = 4;
  EXPECT_EQ(make_plan(in)->scale_out_cooldown_s, 10);
  EXPECT_EQ(make_plan(in)->scale_in_cooldown_s, 300);
  in.total_s = 41;
  EXPECT_EQ(make_plan(in)->scale_out_cooldown_s, 21);
}

TEST(PublishedRule, ConvertsBothLinesIntoMetricUnits) {
  auto in = test::published_input();
  in.calibration_ratio = 0.5;
  const auto p = make_plan(in);
  EXPECT_EQ(p->scale_out_target, 18.75);
  EXPECT_EQ(p->scale_in_threshold, 12.5);
  EXPECT_EQ(p->queue_limit, 50);
  EXPECT_EQ(p->max_instances, 9);
  EXPECT_EQ(finding(*p, "threshold_units").level, Level::kWarn);
}

TEST(PublishedRule, HoldsEverythingThatApplyRegisters) {
  const auto p = make_plan(test::published_input());
  ASSERT_EQ(p->policy.scale_out.size(), 1U);
  const PolicyRule& out = p->policy.scale_out[0];
  EXPECT_EQ(out.type, "TargetTrackingScaling");
  EXPECT_EQ(out.target_tracking->target_value, 37.5);
  EXPECT_EQ(out.target_tracking->predefined_metric,
            "SageMakerVariantConcurrentRequestsPerModelHighResolution");
  EXPECT_TRUE(out.target_tracking->disable_scale_in);
  EXPECT_EQ(out.target_tracking->scale_out_cooldown_s, 30);
  const PolicyRule& in = p->policy.scale_in.at(0);
  EXPECT_EQ(in.step_scaling->cooldown_s, 960);
  EXPECT_EQ(in.step_scaling->steps, (std::vector<StepRow>{{std::nullopt, 0.0, -1}}));
  const AlarmRule& alarm = p->policy.alarms.at(0);
  EXPECT_EQ(alarm.policy, in.name);
  EXPECT_EQ(alarm.metric->name, "ConcurrentRequestsPerModel");
  EXPECT_EQ(alarm.statistic, "Average");
  EXPECT_EQ(alarm.period_s, 60);
  EXPECT_EQ(alarm.evaluation_periods, 3);
  EXPECT_EQ(alarm.datapoints_to_alarm, 3);
  EXPECT_EQ(alarm.threshold, 25);
  EXPECT_EQ(alarm.comparison, "LessThanThreshold");
  const AlarmRule& latency = p->policy.alarms.at(1);
  EXPECT_EQ(latency.extended_statistic, "p95");
  EXPECT_EQ(latency.threshold, 65000);  // microseconds
  EXPECT_TRUE(latency.policy.empty());
}

TEST(RecommendedRule, IsSizedByThroughputAndGrowth) {
  const auto p = make_plan(recommended());
  ASSERT_TRUE(p) << p.error().message;
  const double mu = 17.87;
  EXPECT_EQ(p->utilisation, 0.8);
  EXPECT_NEAR(*p->policy.rate_per_instance_rps, 0.8 * mu, 1e-4);
  EXPECT_EQ(p->min_instances, static_cast<int>(std::ceil(1.25 * 10 / mu)));
  EXPECT_EQ(p->max_instances, static_cast<int>(std::ceil(100 / (0.9 * mu))));
  EXPECT_NEAR(*p->scale_in_threshold, 0.9 * 0.8 * mu, 1e-4);
  EXPECT_EQ(p->queue_limit, 50);
  EXPECT_EQ(p->verdict, PlanVerdict::kWarnings);  // min 1 is below the safe minimum of the native carrier
}

TEST(RecommendedRule, NeverRunsAbove90Percent) {
  EXPECT_EQ(make_plan(recommended(1.0))->utilisation, 0.9);
  EXPECT_EQ(make_plan(recommended(1.05))->utilisation, 0.9);
  EXPECT_EQ(make_plan(recommended(2))->utilisation, 0.5);
  EXPECT_EQ(make_plan(recommended(5))->utilisation, 0.2);
}

TEST(RecommendedRule, WaitsAsLongAsAnInstanceStartsSoThatStepsDoNotCompound) {
  const auto p = make_plan(recommended());
  EXPECT_EQ(p->scale_out_cooldown_s, 270);
  EXPECT_NEAR(*p->reaction_time_s, 30 + 260.248 + 270, 1e-9);
}

TEST(RecommendedRule, NativeStepsLieOnTheMeasuredCurve) {
  const auto p = make_plan(recommended());
  const double line = 0.8 * 17.87 / 16.08;  // below rung 1 the curve goes through the origin
  EXPECT_NEAR(*p->scale_out_target, line, 1e-5);
  const StepRule& step = *p->policy.scale_out.at(0).step_scaling;
  EXPECT_EQ(step.adjustment_type, "PercentChangeInCapacity");
  ASSERT_EQ(step.steps.size(), 3U);
  EXPECT_EQ(step.steps[0].adjustment, 25);
  EXPECT_EQ(step.steps[1].adjustment, 50);
  EXPECT_EQ(step.steps[2].adjustment, 100);
  EXPECT_NEAR(*step.steps[1].lower_bound, 0.5 * line, 1e-5);
  EXPECT_NEAR(*step.steps[2].lower_bound, 3 * line, 1e-5);
  EXPECT_FALSE(step.steps[2].upper_bound);
  const AlarmRule& alarm = p->policy.alarms.at(0);
  EXPECT_EQ(alarm.period_s, 10);
  EXPECT_EQ(alarm.statistic, "Average");
  EXPECT_EQ(alarm.threshold, *p->scale_out_target);
  EXPECT_EQ(alarm.missing_data, "notBreaching");
}

TEST(RecommendedRule, OfferedRateAddsWhatTheRateAsksForAndNeedsNoRatio) {
  auto in = recommended();
  in.carrier = Carrier::kOfferedRate;
  in.calibration_ratio.reset();
  const auto p = make_plan(in);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_NEAR(*p->scale_out_target, 14.296, 1e-6);
  EXPECT_NEAR(p->policy.alarms.at(0).threshold, 142.96, 1e-6);  // requests in a line of 10 s
  // A step adds at least ceil(n * ratio) - n for any ratio within it.
  const auto& steps = p->policy.scale_out.at(0).step_scaling->steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].upper_bound) continue;
    const double ratio = 1 + *steps[i].upper_bound / 142.96;
    EXPECT_NEAR(steps[i].adjustment, 100 * (ratio - 1), 1e-3);
    EXPECT_EQ(steps[i].upper_bound, steps.at(i + 1).lower_bound);
  }
  EXPECT_EQ(finding(*p, "saturating_metric").level, Level::kOk);
  EXPECT_EQ(finding(*p, "scale_in_safety").level, Level::kOk);
}

TEST(RecommendedRule, WarnsWhenTheOfferedRateIsNotEmitted) {
  auto in = recommended();
  in.carrier = Carrier::kOfferedRate;
  EXPECT_EQ(finding(*make_plan(in), "threshold_units").level, Level::kWarn);
  in.emits_offered_rate = true;
  EXPECT_EQ(finding(*make_plan(in), "threshold_units").level, Level::kOk);
}

TEST(RecommendedRule, KeepsTheMinimumThatTheModelFileAsksFor) {
  auto in = recommended();
  in.allowed_min_instances = 4;
  EXPECT_EQ(make_plan(in)->min_instances, 4);
  in.allowed_min_instances = 20;
  EXPECT_EQ(make_plan(in)->max_instances, 20);
}

TEST(RecommendedRule, ScalesInByAnAlarmThatCountsInstances) {
  for (const Carrier carrier : {Carrier::kNative, Carrier::kOfferedRate}) {
    auto in = recommended();
    in.carrier = carrier;
    const auto p = make_plan(in);
    const AlarmRule& alarm = p->policy.alarms.at(1);
    ASSERT_EQ(alarm.queries.size(), 3U);
    EXPECT_FALSE(alarm.queries[0].return_data);
    EXPECT_TRUE(alarm.queries[2].return_data);
    EXPECT_THAT(alarm.queries[2].expression, HasSubstr("12.8664 * ("));
    EXPECT_EQ(alarm.missing_data, "breaching");
    EXPECT_THAT(alarm.sources, HasSubstr("n = "));
    EXPECT_FALSE(alarm.metric);
  }
}

TEST(RecommendedRule, ALoadThatTurnsFasterThanFourStartsIsScaledInAfterTenOfTen) {
  auto in = recommended();
  for (const auto& [period_s, minutes] : {std::pair(3.9, 10), std::pair(4.1, 3)}) {
    in.turning_period_s = period_s * *in.measured_total_s;
    const AlarmRule alarm = make_plan(in)->policy.alarms.at(1);
    EXPECT_EQ(alarm.evaluation_periods, minutes);
    EXPECT_EQ(alarm.datapoints_to_alarm, minutes);
    EXPECT_THAT(alarm.description, HasSubstr(fmt::format("for {} minutes", minutes)));
  }
}

TEST(RecommendedRule, SafeMinimumIsWhereChanceNoLongerReachesTheLine) {
  const auto p = make_plan(recommended());
  ASSERT_TRUE(p->safe_scale_in_minimum);
  const double cv = detail::service_cv(recommended());
  const double line = *p->scale_out_target;
  EXPECT_LE(detail::expected_outstanding(0.72, *p->safe_scale_in_minimum, cv), line);
  EXPECT_GT(detail::expected_outstanding(0.72, *p->safe_scale_in_minimum - 1, cv), line);
  EXPECT_EQ(finding(*p, "scale_in_safety").level, Level::kWarn);
  auto in = recommended();
  in.trough_rps = 99;
  in.peak_rps = 300;
  EXPECT_EQ(finding(*make_plan(in), "scale_in_safety").level, Level::kOk);
}

TEST(ExpectedOutstanding, IsPollaczekKhinchineForOneServer) {
  EXPECT_NEAR(detail::expected_outstanding(0.8, 1, 0), 0.8 + 0.64 / 0.4, 1e-9);
  EXPECT_NEAR(detail::expected_outstanding(0.8, 1, 1), 4, 1e-9);
  EXPECT_TRUE(std::isinf(detail::expected_outstanding(1, 3, 0)));
}

TEST(Planner, RefusesToConvertWithoutARatioUnlessOneIsAssumed) {
  for (auto in : {test::published_input(), recommended()}) {
    in.calibration_ratio.reset();
    const auto refused = make_plan(in);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
    EXPECT_THAT(refused.error().message, HasSubstr("--assume-ratio"));
    in.assume_ratio = 1;
    const auto p = make_plan(in);
    ASSERT_TRUE(p);
    EXPECT_TRUE(p->ratio_assumed);
    EXPECT_EQ(finding(*p, "threshold_units").level, Level::kWarn);
  }
}

TEST(Planner, RefusesWhatIsNoNumber) {
  const auto spoil = [](auto change) {
    auto in = test::published_input();
    change(in);
    return make_plan(in);
  };
  const double nan = std::nan("");
  EXPECT_FALSE(spoil([&](auto& in) { in.unqueued_mean_ms = nan; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.unqueued_p95_ms.reset(); }));
  EXPECT_FALSE(spoil([&](auto& in) { in.total_s = nan; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.total_s.reset(); }));
  EXPECT_FALSE(spoil([&](auto& in) { in.measured_total_s = -1; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.headroom = nan; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.headroom = 0.9; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.peak_rps = INFINITY; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.peak_rps = 0; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.trough_rps = 6000; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.calibration_ratio = 0; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.q_max.reset(); }));
  EXPECT_FALSE(spoil([&](auto& in) { in.q_max = 0; }));
  EXPECT_FALSE(spoil([&](auto& in) { in.rungs.clear(); }));
  EXPECT_TRUE(spoil([&](auto& in) { in.trough_rps = 0; }));
}

TEST(Planner, FailsWhenAnIdleInstanceMissesTheSlo) {
  auto in = recommended();
  in.slo_ms = 60;
  const auto p = make_plan(in);
  ASSERT_TRUE(p);
  EXPECT_EQ(finding(*p, "slo_budget").level, Level::kFail);
  EXPECT_EQ(p->verdict, PlanVerdict::kInfeasible);
}

TEST(Planner, FailsWhenTheModelFileAllowsTooFew) {
  auto in = recommended();
  in.allowed_max_instances = 3;
  const auto p = make_plan(in);
  EXPECT_EQ(finding(*p, "throughput_sizing").level, Level::kFail);
  EXPECT_THAT(finding(*p, "throughput_sizing").remedy, HasSubstr("instance.max = 7"));
}

TEST(Planner, SaysWhatItDoubts) {
  auto in = recommended();
  in.qmax_verdict = QmaxVerdict::kLowerBound;
  in.host_contended = true;
  in.ttotal_client_bound = "one lane stood still for 3 s";
  in.paced_engine = true;
  in.fingerprint_known = false;
  const auto p = make_plan(in);
  const Finding& f = finding(*p, "measurement_trust");
  EXPECT_EQ(f.level, Level::kWarn);
  for (const char* part : {"lower bound", "host_contended", "stood still", "paced", "fingerprint"})
    EXPECT_THAT(f.evidence, HasSubstr(part));
}

TEST(Planner, HasEveryFindingOnceWithEvidence) {
  for (auto in : {test::published_input(), recommended()}) {
    const auto p = make_plan(in);
    for (const char* id : {"measurement_trust", "curve_repeatability", "slo_budget", "invocation_ceiling",
                           "queue_depth", "threshold_units", "throughput_sizing", "knee", "surge_survival",
                           "surge_growth", "scale_in_safety", "scale_in_line", "saturating_metric",
                           "static_is_better", "fleet_cost", "provision_stage", "service_times"}) {
      EXPECT_EQ(
          std::count_if(p->findings.begin(), p->findings.end(), [&](const Finding& f) { return f.id == id; }),
          1)
          << id;
      EXPECT_FALSE(finding(*p, id).evidence.empty());
    }
    for (const Finding& f : p->findings) {
      EXPECT_TRUE(f.level < Level::kWarn || !f.remedy.empty()) << f.id;
    }
  }
}

TEST(Planner, PutsBothRulesSideBySideAndLeavesTheUnknownUnknown) {
  auto in = recommended();
  in.price_per_hour_usd = 1.5;
  const auto p = make_plan(in);
  ASSERT_EQ(p->alternatives.size(), 4U);
  EXPECT_EQ(p->alternatives[0].name, "published");
  EXPECT_EQ(p->alternatives[0].max_instances, 1);
  EXPECT_EQ(p->alternatives[1].max_instances, 7);
  EXPECT_EQ(p->alternatives[1].cost_per_hour_at_peak_usd, 10.5);
  EXPECT_EQ(p->alternatives[3].name, "static");
  for (const Alternative& a : p->alternatives)
    EXPECT_FALSE(a.share_within_slo || a.instance_hours || a.turns_per_hour);
  EXPECT_EQ(finding(*p, "surge_survival").level, Level::kInfo);
}

TEST(Planner, NamesAQueueLimitThatIsNotThePlans) {
  auto in = recommended();
  in.deployed_queue_limit = 10;
  EXPECT_EQ(finding(*make_plan(in), "queue_depth").level, Level::kWarn);
  in.deployed_queue_limit = 50;
  EXPECT_EQ(finding(*make_plan(in), "queue_depth").level, Level::kOk);
}

TEST(Planner, SaysWhatServiceTimesItsSimulationsDrawFrom) {
  auto in = recommended();
  EXPECT_EQ(finding(*make_plan(in), "service_times").level, Level::kInfo);
  EXPECT_THAT(finding(*make_plan(in), "service_times").evidence, HasSubstr("lognormal"));
  in.unqueued_samples_s = {0.05, 0.06, 0.07};
  EXPECT_EQ(finding(*make_plan(in), "service_times").level, Level::kOk);
  EXPECT_THAT(finding(*make_plan(in), "service_times").evidence, HasSubstr("3 measured"));
}

TEST(CeilUp, ForgivesBinaryFractionsOnly) {
  EXPECT_EQ(ceil_up(3.0000000000001), 3);
  EXPECT_EQ(ceil_up(3.0001), 4);
  EXPECT_EQ(ceil_up(0), 0);
  EXPECT_EQ(ceil_up(-1), 0);
}

}  // namespace
}  // namespace headroom::capacity
