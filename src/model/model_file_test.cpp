// Model files: every key is known, every value checked.
#include "model/model_file.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::model {
namespace {

using ::testing::HasSubstr;

TEST(ModelFile, OfTheRepositoryIsRead) {
  const std::map<std::string, std::string> engines{{"kokoro-82m", "onnxruntime"},
                                                   {"kokoro-82m-local", "openvino"}};
  for (const auto& [name, engine] : engines) {
    const auto file = load_model_file(name);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->endpoint, "speech-" + name);
    EXPECT_EQ(file->environment.at("TTS_ENGINE"), engine);
    EXPECT_GE(file->slo_ms, 3000);
    EXPECT_GT(*file->peak_rps, *file->trough_rps);
  }
  EXPECT_EQ(load_model_file("kokoro-82m")->slo_ms, 3000);
  EXPECT_EQ(load_model_file("kokoro-82m")->max_instances, 9);
  EXPECT_EQ(load_model_file("models/kokoro-82m.toml")->price_per_hour_usd, 1.408);
}

TEST(ModelFile, RefusesAnUnknownKeyAndPrintsTheAllowedOnes) {
  const auto file = parse_model_file("endpoint = \"a\"\n[load]\npeek_rps = 1\n", "m.toml");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("m.toml:3"));
  EXPECT_THAT(file.error().message, HasSubstr("'load.peek_rps' (did you mean 'load.peak_rps'?)"));
  EXPECT_THAT(file.error().message, HasSubstr("weights.manifest_sha256"));
  EXPECT_FALSE(parse_model_file("endpoint = \"a\"\n[loads]\npeak_rps = 1\n", "m.toml"));
  EXPECT_FALSE(parse_model_file("endpoint = \"a\"\nload = 5\n", "m.toml"));
}

TEST(ModelFile, NamesTheKeyWhoseValueIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[instance]\nmin = 0", "instance.min"},
      {"[instance]\nmin = 1.5", "instance.min"},
      {"[instance]\nmin = 3\nmax = 2", "instance.max"},
      {"[load]\nheadroom = 0.9", "load.headroom"},
      {"[load]\npeak_rps = nan", "load.peak_rps"},
      {"[load]\npeak_rps = inf", "load.peak_rps"},
      {"[load]\npeak_rps = \"10\"", "load.peak_rps"},
      {"[load]\npeak_rps = 1\ntrough_rps = 2", "load.peak_rps"},
      {"[transport]\nkind = \"carrier pigeon\"", "transport.kind"},
      {"[container]\nenvironment = { A = 1 }", "container.environment"},
      {"[weights]\nmanifest_sha256 = \"abc\"", "weights.manifest_sha256"},
  };
  for (const auto& [text, key] : cases) {
    const auto file = parse_model_file("endpoint = \"a\"\n" + text, "m.toml");
    ASSERT_FALSE(file) << text;
    EXPECT_THAT(file.error().message, HasSubstr(key));
  }
}

TEST(ModelFile, RefusesHostileAndMissingNames) {
  for (const char* name : {"../../etc/passwd", "a/b", "", ".."}) {
    const auto file = load_model_file(name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, base::ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(load_model_file("no-such-model").error().code, base::ErrorCode::kNotFound);
  for (const char* text : {"", "endpoint = \"../x\"", "endpoint = 5", "endpoint = ", "\xff\xfe"})
    EXPECT_FALSE(parse_model_file(text, "m.toml")) << text;
}

}  // namespace
}  // namespace headroom::model
