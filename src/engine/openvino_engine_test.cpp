// Tests of what the OpenVINO engine refuses before it loads a model. The model itself:
// engine_model_test.cpp.
#include "engine/openvino_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_model_dir.hpp"
#include "engine/voice_table.hpp"

namespace headroom::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

base::Error refusal(const OpenVinoOptions& options) {
  auto engine = make_openvino_engine(options);
  EXPECT_FALSE(engine);
  return engine ? base::Error{} : engine.error();
}

TEST(OpenVinoEngine, NamesAMissingModelDirectory) {
  const auto error = refusal({.model_dir = "/nowhere/kokoro"});
  EXPECT_EQ(error.code, base::ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/nowhere/kokoro"), HasSubstr("./dev setup")));
}

TEST(OpenVinoEngine, RefusesAWrongHashBeforeAnythingIsLoaded) {
  TestModelDir dir;
  dir.fill({{"ir/front.xml", "<net/>"}, {"ir/front.bin", "abc"}, {"ir/vocoder.xml", "<net/>"}});
  dir.write("ir/front.bin", "abd");
  bool loaded = false;
  const auto error = refusal({.model_dir = dir.path(), .on_stage = [&](std::string_view) { loaded = true; }});
  EXPECT_THAT(error.message, AllOf(HasSubstr("ir/front.bin"), HasSubstr("SHA-256")));
  EXPECT_FALSE(loaded);
}

TEST(OpenVinoEngine, RefusesAManifestWithoutGraphOrVoices) {
  TestModelDir no_graph;
  no_graph.fill({{"vocab.json", "{}"}});
  EXPECT_THAT(refusal({.model_dir = no_graph.path()}).message, HasSubstr("ir/front.xml"));
  TestModelDir no_voices;
  no_voices.fill({{"ir/front.xml", "<net/>"}, {"ir/vocoder.xml", "<net/>"}});
  EXPECT_THAT(refusal({.model_dir = no_voices.path()}).message, HasSubstr("no voice"));
}

TEST(OpenVinoEngine, TurnsWhatTheRuntimeThrowsIntoAnError) {
  TestModelDir dir;
  const std::string empty = "<net name=\"x\" version=\"11\"><layers></layers></net>";
  dir.fill({{"ir/front.xml", empty},
            {"ir/vocoder.xml", empty},
            {"voices/af_heart.bin", std::string(kStyleRows * kStyleSize * sizeof(float), '\0')}});
  const auto error = refusal({.model_dir = dir.path()});
  EXPECT_EQ(error.code, base::ErrorCode::kInternal);
  EXPECT_THAT(error.message, HasSubstr("loading the model"));
  EXPECT_FALSE(error.context.empty());
}

TEST(OpenVinoEngine, RefusesNoWorkers) {
  EXPECT_EQ(refusal({.model_dir = "/x", .workers = 0}).code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({.model_dir = "/x", .threads = -1}).code, base::ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace headroom::engine
