// The plain search against servers of known Q_max.
#include "capacity/search.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capacity/qmax.hpp"

namespace headroom::capacity {
namespace {

struct Outcome {
  std::vector<Rung> rungs;
  QmaxResult result;
  std::string why;
};

Outcome search(const std::function<Rung(int)>& hold, SearchSettings settings = {}) {
  PlainSearch s(settings);
  Outcome o;
  while (const auto n = s.next()) {
    o.rungs.push_back(hold(*n));
    s.add(o.rungs.back());
    if (o.rungs.size() > 100) break;
  }
  o.why = s.ended_because();
  o.result = evaluate_qmax(o.rungs, settings.slo_ms);
  return o;
}

Rung serial(int n, double service_ms, double slo_ms) {
  Rung r;
  r.n = n;
  r.p95_ms = n * service_ms + 4.1;
  r.verdict = *r.p95_ms <= slo_ms ? RungVerdict::kPass : RungVerdict::kFail;
  return r;
}

TEST(PlainSearch, FindsASerialServerExactlyInFewRungs) {
  const auto o = search([](int n) { return serial(n, 55.9, 3000); });
  EXPECT_EQ(o.result.q_max, 53);
  EXPECT_EQ(o.result.first_fail, 54);
  EXPECT_LE(o.rungs.size(), 7U);
}

TEST(PlainSearch, StartsWithRungs1And5And10) {
  const auto o = search([](int n) { return serial(n, 55.9, 3000); });
  ASSERT_GE(o.rungs.size(), 3U);
  EXPECT_EQ(o.rungs[0].n, 1);
  EXPECT_EQ(o.rungs[1].n, 5);
  EXPECT_EQ(o.rungs[2].n, 10);
}

TEST(PlainSearch, BracketsEveryQFrom1To400WithinItsPrecision) {
  for (int q = 1; q <= 400; ++q) {
    const double service = 2995.0 / (q + 0.5);
    const auto o = search([&](int n) { return serial(n, service, 3000); });
    ASSERT_EQ(o.result.verdict, QmaxVerdict::kBracketed) << q;
    EXPECT_LE(*o.result.q_max, q);
    EXPECT_GT(*o.result.first_fail, q);
    EXPECT_LE(*o.result.first_fail - *o.result.q_max, std::max(1, q / 50)) << q;
    EXPECT_LE(o.rungs.size(), 14U) << q;
  }
}

TEST(PlainSearch, ClosesInOnACurveThatBendsSharply) {
  const auto o = search([](int n) {
    Rung r;
    r.n = n;
    r.p95_ms = n < 137 ? 200 + n : 50000;  // a cliff: the secant always points too low
    r.verdict = *r.p95_ms <= 3000 ? RungVerdict::kPass : RungVerdict::kFail;
    return r;
  });
  EXPECT_EQ(o.result.verdict, QmaxVerdict::kBracketed);
  EXPECT_LE(*o.result.q_max, 136);
  EXPECT_GE(*o.result.q_max, 134);
  EXPECT_LE(o.rungs.size(), 25U);
}

TEST(PlainSearch, EndsAtTheLargestCountAllowed) {
  SearchSettings settings;
  settings.max_n = 64;
  const auto o = search([](int n) { return serial(n, 1, 3000); }, settings);
  EXPECT_EQ(o.result.verdict, QmaxVerdict::kLowerBound);
  EXPECT_EQ(o.result.q_max, 64);
  EXPECT_THAT(o.why, ::testing::HasSubstr("64"));
}

TEST(PlainSearch, EndsWhenNothingPasses) {
  const auto o = search([](int n) { return serial(n, 4000, 3000); });
  EXPECT_EQ(o.result.verdict, QmaxVerdict::kNone);
  EXPECT_EQ(o.rungs.size(), 1U);
}

TEST(PlainSearch, TriesARungThatJudgedNothingOnceMoreAndThenEnds) {
  const auto o = search([](int n) {
    Rung r = serial(n, 10, 3000);
    if (n >= 10) r.verdict = RungVerdict::kClientBound;
    return r;
  });
  EXPECT_EQ(o.result.q_max, 5);
  EXPECT_EQ(o.result.verdict, QmaxVerdict::kLowerBound);
  EXPECT_EQ(o.rungs.size(), 4U);
  EXPECT_THAT(o.why, ::testing::HasSubstr("could not be judged"));
}

TEST(PlainSearch, TakesAQueueLimitAsTheEnd) {
  const auto o = search([](int n) {
    Rung r = serial(n, 10, 3000);
    if (n > 8) r.verdict = RungVerdict::kSaturated;
    return r;
  });
  EXPECT_EQ(o.result.q_max, 8);
  EXPECT_EQ(o.result.first_fail, 9);
}

}  // namespace
}  // namespace headroom::capacity
