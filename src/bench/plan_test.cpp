// tts-bench plan on files: the published column, refusals, what is written.
#include "bench/plan.hpp"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.hpp"

namespace headroom::bench {
namespace {

using ::testing::HasSubstr;

class PlanCommand : public ::testing::Test {
 protected:
  PlanCommand() {
    char name[] = "/tmp/headroom-plan-XXXXXX";
    folder_ = ::mkdtemp(name);
    options_.qmax_file = "tests/golden/qmax-published.json";
    options_.ttotal_file = "tests/golden/ttotal-published.json";
    options_.rule = "published";
    options_.headroom = 1.25;
    options_.peak_rps = 5000;
    options_.trough_rps = 10;
    context_.endpoint = "speech-kokoro-82m";
    context_.out = folder_;
    context_.created = "2026-11-29T15:00:00.000Z";
  }
  ~PlanCommand() override { std::filesystem::remove_all(folder_); }

  int run() {
    out_.clear();
    err_.clear();
    return run_plan(
        options_, context_, [&](const auto& t) { out_ += t; }, [&](const auto& t) { err_ += t; });
  }
  // A copy of a golden file with one text replaced.
  std::string changed(const std::string& golden, const std::string& from, const std::string& to) {
    std::string text = *base::read_file("tests/golden/" + golden);
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const std::string path = folder_ + "/changed-" + golden;
    EXPECT_TRUE(base::write_file_atomically(path, text));
    return path;
  }

  std::string folder_, out_, err_;
  PlanOptions options_;
  PlanContext context_;
};

TEST_F(PlanCommand, GivesThePublishedColumnExactly) {
  run();
  const auto artifact = artifact::read_plan(folder_ + "/plan.json");
  ASSERT_TRUE(artifact) << artifact.error().message;
  const capacity::Plan& p = artifact->plan;
  EXPECT_EQ(p.scale_out_target, 37.5);
  EXPECT_EQ(p.scale_in_threshold, 25.0);
  EXPECT_EQ(p.queue_limit, 50);
  EXPECT_EQ(p.w_max_s, 2.934);
  EXPECT_EQ(p.scale_out_cooldown_s, 30);
  EXPECT_EQ(p.scale_in_cooldown_s, 960);
  EXPECT_EQ(p.unqueued_alarm_ms, 65);
  EXPECT_EQ(p.safe_scale_in_minimum, 3);
  EXPECT_EQ(p.min_instances, 1);
  EXPECT_EQ(p.max_instances, 9);
  EXPECT_EQ(p.utilisation, 0.974);
}

TEST_F(PlanCommand, SaysThatThePublishedPeakNeeds280InstancesAndIsInfeasible) {
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(out_, HasSubstr("9 instances serve 161 requests/s"));
  EXPECT_THAT(out_, HasSubstr("5000 requests/s need 280 instances"));
  EXPECT_EQ(artifact::read_plan(folder_ + "/plan.json")->plan.verdict, capacity::PlanVerdict::kInfeasible);
}

TEST_F(PlanCommand, IsFeasibleWithTheRecommendedRuleForALoadThatFits) {
  options_.rule = "recommended";
  options_.peak_rps = 100;
  EXPECT_EQ(run(), 0) << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("recommended"));
  const auto artifact = artifact::read_plan(folder_ + "/plan.json");
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->plan.max_instances, 7);
  EXPECT_EQ(artifact->qmax_sha256.size(), 64U);
}

TEST_F(PlanCommand, RefusesMeasurementsOfAnotherTransportAndNamesIt) {
  options_.ttotal_file = changed("ttotal-published.json", "response-stream", "buffered");
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(err_, HasSubstr("transport: 'response-stream' against 'buffered'"));
}

TEST_F(PlanCommand, RefusesAnotherEndpointOrInstanceTypeAndNamesIt) {
  const std::string fingerprint =
      R"("fingerprint": {"endpoint": "other", "instance_type": "ml.g6.xlarge"}, "slo_ms")";
  options_.qmax_file = changed("qmax-published.json", "\"slo_ms\"", fingerprint);
  context_.model = "kokoro-82m";
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(err_, HasSubstr("endpoint: 'other' against 'speech-kokoro-82m'"));
  EXPECT_THAT(err_, HasSubstr("instance type: 'ml.g6.xlarge' against 'ml.g5.xlarge'"));
}

TEST_F(PlanCommand, RefusesToConvertUnitsWithoutARatioUnlessOneIsAssumed) {
  std::string text = *base::read_file("tests/golden/qmax-published.json");
  for (auto at = text.find("\"metric_ratio\": 1.0"); at != std::string::npos;
       at = text.find("\"metric_ratio\": 1.0"))
    text.replace(at, 19, "\"metric_ratio\": null");
  ASSERT_TRUE(base::write_file_atomically(folder_ + "/q.json", text));
  options_.qmax_file = folder_ + "/q.json";
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(err_, HasSubstr("--assume-ratio"));
  options_.assume_ratio = 1.0;
  run();
  EXPECT_EQ(artifact::read_plan(folder_ + "/plan.json")->plan.ratio_assumed, true);
  options_.assume_ratio.reset();
  options_.rule = "recommended";
  options_.carrier = "offered-rate";
  options_.peak_rps = 100;
  EXPECT_EQ(run(), 0) << err_;  // a rate needs no conversion
}

TEST_F(PlanCommand, RefusesAnotherSloThanTheMeasuredOne) {
  options_.slo_ms = 2000;
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(err_, HasSubstr("3000"));
}

TEST_F(PlanCommand, NamesTheFileThatIsMissingOrSpoiled) {
  options_.qmax_file = folder_ + "/none.json";
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(err_, HasSubstr("none.json"));
  options_.qmax_file = changed("qmax-published.json", "\"n\": 5", "\"n\": \"five\"");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(err_, HasSubstr("/rungs/1/n"));
  options_.qmax_file = options_.ttotal_file;
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(err_, HasSubstr("headroom/qmax"));
}

TEST_F(PlanCommand, RefusesHostileNamesBeforeTheyTouchAPath) {
  context_.out.clear();
  for (const char* name : {"../evil", "a/b", "x\n"}) {
    context_.endpoint = name;
    EXPECT_EQ(run(), 2) << name;
  }
  context_.endpoint.clear();
  context_.model = "../../etc/passwd";
  EXPECT_EQ(run(), 2);
}

TEST_F(PlanCommand, PrintsTheFileItselfWithJson) {
  context_.json = true;
  run();
  EXPECT_EQ(out_, *base::read_file(folder_ + "/plan.json"));
  EXPECT_TRUE(artifact::parse_plan(out_, "stdout"));
}

}  // namespace
}  // namespace headroom::bench
