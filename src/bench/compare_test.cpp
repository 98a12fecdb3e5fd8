// compare and cost on small artifacts.
#include "bench/compare.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "bench/cost.hpp"

namespace headroom::bench {
namespace {

namespace fs = std::filesystem;

class Artifacts : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("headroom-compare-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "one");
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string qmax(const std::string& name, int q_max, double low, double high) {
    artifact::QmaxArtifact a;
    a.header.fingerprint.endpoint = "speech-one";
    a.header.fingerprint.instance_type = "ml.g5.xlarge";
    a.header.settings = {{"workload", "", "default"}};  // as an unset option is written
    a.header.effective = {{"workload", "short"}};
    a.method = "ladder";
    a.transport = "response-stream";
    for (const int n : {1, q_max}) {
      capacity::Rung rung;
      rung.n = n;
      rung.p95_ms = 60.0 * n;
      rung.rps = 10;
      rung.verdict = capacity::RungVerdict::kPass;
      a.rungs.push_back(rung);
    }
    a.result.q_max = q_max;
    a.result.verdict = capacity::QmaxVerdict::kBracketed;
    a.result.q_max_interval = capacity::Interval{low, high};
    const std::string path = (folder_ / name).string();
    const auto ok = artifact::write_artifact(path, a);
    EXPECT_TRUE(ok) << ok.error().message;
    return path;
  }
  fs::path folder_;
};

TEST_F(Artifacts, OverlappingIntervalsAreAlikeAndDisjointOnesAreNot) {
  const auto a = qmax("a.json", 50, 48, 53), b = qmax("b.json", 47, 45, 49), c = qmax("c.json", 30, 28, 33);
  const auto alike = compare_artifacts(a, b);
  ASSERT_TRUE(alike) << alike.error().message;
  EXPECT_FALSE(alike->different);
  const auto apart = compare_artifacts(a, c);
  ASSERT_TRUE(apart);
  EXPECT_TRUE(apart->different);
  EXPECT_EQ(apart->lines.front().left, "50");
  EXPECT_EQ(apart->lines.front().right, "30");
}

TEST_F(Artifacts, AFileThatIsNoArtifactIsNamed) {
  const std::string path = (folder_ / "x.json").string();
  std::ofstream(path) << "{}";
  const auto compared = compare_artifacts(path, path);
  ASSERT_FALSE(compared);
  EXPECT_NE(compared.error().message.find("x.json"), std::string::npos);
}

TEST_F(Artifacts, CostIsPriceOverCharactersAndUnknownWithoutAPrice) {
  qmax("one/qmax.json", 50, 48, 53);
  CostOptions options;
  options.artifacts = folder_.string();
  auto rows = cost_rows(options, (folder_ / "no-models").string());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_FALSE(rows->front().per_million_characters_usd);
  options.price = 1.408;
  rows = cost_rows(options, "");
  ASSERT_TRUE(rows);
  const double characters = *rows->front().characters;
  EXPECT_NEAR(*rows->front().per_million_characters_usd, 1.408 / (0.8 * 10 * characters * 3600) * 1e6, 1e-9);
  options.artifacts = (folder_ / "nothing").string();
  EXPECT_FALSE(cost_rows(options, ""));
}

}  // namespace
}  // namespace headroom::bench
