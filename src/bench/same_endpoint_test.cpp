// What counts as another endpoint than the one that was frozen, and which holds that spoils.
#include "bench/same_endpoint.hpp"

#include <gtest/gtest.h>

#include "bench/hold.hpp"

namespace headroom::bench {
namespace {

using capacity::RungVerdict;

aws::EndpointDescription standing() {
  aws::EndpointDescription endpoint;
  endpoint.config_name = "first";
  endpoint.status = "InService";
  endpoint.variants = {{"AllTraffic", 1, 1, {}, {}, {}, {}}};
  return endpoint;
}

TEST(SameEndpoint, IsOfTheSameConfigurationAndCountAndInService) {
  const FrozenAs frozen{"first", 1};
  EXPECT_FALSE(change_since(frozen, standing(), "AllTraffic"));
  auto other = standing();
  other.config_name = "second";
  EXPECT_NE(change_since(frozen, other, "AllTraffic")->find("redeployed"), std::string::npos);
  EXPECT_FALSE(change_since({"", 1}, other, "AllTraffic"));
  other = standing();
  other.status = "Updating";
  EXPECT_NE(change_since(frozen, other, "AllTraffic")->find("Updating"), std::string::npos);
  other = standing();
  other.variants[0].current_instance_count = 2;
  EXPECT_NE(change_since(frozen, other, "AllTraffic")->find("number of instances"), std::string::npos);
  EXPECT_FALSE(change_since({"first", std::nullopt}, other, "AllTraffic"));
}

std::vector<HeldRung> held(const std::vector<bool>& compared) {
  std::vector<HeldRung> rungs;
  for (const bool one : compared) {
    HeldRung rung;
    rung.rung.n = static_cast<int>(rungs.size()) + 1;
    rung.rung.verdict = RungVerdict::kPass;
    rung.compared = one;
    rungs.push_back(rung);
  }
  return rungs;
}

std::vector<int> spoiled(const std::vector<bool>& compared) {
  auto rungs = held(compared);
  const auto count = spoil_uncompared(rungs, "redeployed");
  std::vector<int> out;
  for (const HeldRung& one : rungs) {
    if (one.rung.verdict == RungVerdict::kCapacityChanged && one.rung.reason == "redeployed")
      out.push_back(one.rung.n);
  }
  EXPECT_EQ(count, out.size());
  return out;
}

TEST(SameEndpoint, AChangeSpoilsTheLastHoldAndAllThatCouldNotBeComparedAtTheirEnd) {
  EXPECT_EQ(spoiled({true, true, true}), (std::vector<int>{3}));
  EXPECT_EQ(spoiled({true, true, false}), (std::vector<int>{3}));
  EXPECT_EQ(spoiled({true, false, false}), (std::vector<int>{2, 3}));
  EXPECT_EQ(spoiled({false, true, false}), (std::vector<int>{3}));
  EXPECT_EQ(spoiled({false, false}), (std::vector<int>{1, 2}));
  EXPECT_EQ(spoiled({}), (std::vector<int>{}));
}

}  // namespace
}  // namespace headroom::bench
