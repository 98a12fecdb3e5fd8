// Tests of what the ONNX Runtime engine refuses before it loads a model. The model itself:
// engine_model_test.cpp.
#include "engine/onnxruntime_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_model_dir.hpp"

namespace headroom::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

base::Error refusal(const OnnxRuntimeOptions& options) {
  auto engine = make_onnxruntime_engine(options);
  EXPECT_FALSE(engine);
  return engine ? base::Error{} : engine.error();
}

TEST(OnnxRuntimeEngine, NamesAMissingModelDirectory) {
  const auto error = refusal({.model_dir = "/nowhere/kokoro"});
  EXPECT_EQ(error.code, base::ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/nowhere/kokoro"), HasSubstr("./dev setup")));
}

TEST(OnnxRuntimeEngine, SaysThatADirectoryForOpenVinoIsNotItsOwn) {
  TestModelDir dir;
  dir.fill({{"ir/front.xml", "<net/>"}});
  EXPECT_THAT(refusal({.model_dir = dir.path()}).message,
              AllOf(HasSubstr("onnx/model.onnx"), HasSubstr("kokoro-82m-onnx")));
}

TEST(OnnxRuntimeEngine, RefusesAGraphThatTheManifestDoesNotList) {
  TestModelDir dir;
  dir.fill({{"onnx/model.onnx", "graph"}});
  dir.write("onnx/other.onnx", "graph");
  EXPECT_THAT(refusal({.model_dir = dir.path()}).message, HasSubstr("onnx/other.onnx"));
}

TEST(OnnxRuntimeEngine, NamesAMissingLibraryBeforeAnythingIsLoaded) {
  TestModelDir dir;
  dir.fill({{"onnx/model.onnx", "graph"}});
  bool loaded = false;
  const auto error = refusal({.model_dir = dir.path(),
                              .library = "/nowhere/libonnxruntime.so",
                              .on_stage = [&](std::string_view) { loaded = true; }});
  EXPECT_EQ(error.code, base::ErrorCode::kNotFound);
  EXPECT_THAT(error.message, AllOf(HasSubstr("/nowhere/libonnxruntime.so"), HasSubstr("./dev setup")));
  EXPECT_FALSE(loaded);
}

TEST(OnnxRuntimeEngine, RefusesNoWorkers) {
  EXPECT_EQ(refusal({.model_dir = "/x", .workers = 0}).code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal({.model_dir = "/x", .threads = -1}).code, base::ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace headroom::engine
