// Tests of what is kept of a calibration and when it counts again.
#include "engine/calibration_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_model_dir.hpp"

namespace headroom::engine {
namespace {

CalibrationKey key() {
  return {"openvino", "bf16", "Some CPU", std::string(64, 'a'), CpuLimits{4, std::nullopt}, "1.0"};
}

Calibration calibration() { return {{{{2, 2}, 3.0}, {{4, 1}, 4.0}}, {{1, 4}}, 2.5}; }

TEST(CalibrationFile, ComesBackAsItWasWritten) {
  TestModelDir dir;
  const auto folder = dir.path() + "/not/there/yet";
  EXPECT_FALSE(read_calibration(folder, key()));
  ASSERT_TRUE(write_calibration(folder, key(), calibration()));
  const auto read = read_calibration(folder, key());
  ASSERT_TRUE(read);
  EXPECT_EQ(choose_measured(read->measured), (Shares{4, 1}));
  EXPECT_EQ(describe(*read), describe(calibration()));
  EXPECT_DOUBLE_EQ(read->took_s, 2.5);
}

TEST(CalibrationFile, CountsForTheSameMachineModelAndProgramOnly) {
  const auto text = calibration_json(key(), calibration());
  ASSERT_TRUE(parse_calibration(text, key()));
  std::vector<CalibrationKey> others(7, key());
  others[0].engine = "onnxruntime";
  others[1].precision = "f32";
  others[2].cpu = "Another CPU";
  others[3].manifest_sha256 = std::string(64, 'b');
  others[4].limits.affinity = 3;
  others[5].limits.quota = 2.0;
  others[6].version = "1.1";
  for (const auto& other : others) {
    EXPECT_FALSE(parse_calibration(text, other)) << key_text(other);
    EXPECT_NE(calibration_path("/c", other), calibration_path("/c", key()));
  }
}

TEST(CalibrationFile, IsMeasuredAnewWhenItIsDamaged) {
  const auto good = calibration_json(key(), calibration());
  auto no_workers = good;
  no_workers.replace(no_workers.find("\"workers\": 2"), 12, "\"workers\": 0");
  auto other_version = good;
  other_version.replace(other_version.find("\"version\": 1"), 12, "\"version\": 2");
  for (const auto& text : {std::string(), std::string("null"), good.substr(0, good.size() / 2), no_workers,
                           other_version, calibration_json(key(), {{{{1, 1}, -1.0}}, {}, 0})})
    EXPECT_FALSE(parse_calibration(text, key())) << text;
}

TEST(CalibrationFile, FindsTheModelOfTheProcessor) {
  EXPECT_EQ(cpu_model("processor\t: 0\nmodel name\t: AMD EPYC 9R14\nflags\t\t: fpu\n"), "AMD EPYC 9R14");
  EXPECT_EQ(cpu_model("model name\t: last line"), "last line");
  EXPECT_EQ(cpu_model("processor\t: 0\n"), "unknown");
  EXPECT_EQ(cpu_model("model name\nflags\t: fpu\n"), "unknown");
}

}  // namespace
}  // namespace headroom::engine
