// Tests of where ONNX Runtime is looked for and what is said when it is not there.
#include "engine/onnxruntime_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OnnxRuntimeLibrary, IsLookedForWhereTheUserSaysAndNowhereElse) {
  EXPECT_THAT(onnxruntime_candidates("/opt/ort/libonnxruntime.so", "/cache"),
              ElementsAre("/opt/ort/libonnxruntime.so"));
}

TEST(OnnxRuntimeLibrary, IsTheLoadersBeforeThatOfSetup) {
  EXPECT_THAT(onnxruntime_candidates("", "/cache"),
              ElementsAre("libonnxruntime.so.1", "/cache/onnxruntime-1.32.0/lib/libonnxruntime.so.1"));
  EXPECT_THAT(onnxruntime_candidates("", ""), ElementsAre("libonnxruntime.so.1"));
}

TEST(OnnxRuntimeLibrary, NamesTheMissingFileAndTheRemedy) {
  const auto opened = open_onnxruntime("/nowhere/libonnxruntime.so.9");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr("/nowhere/libonnxruntime.so.9"),
                                            HasSubstr("./dev setup"), HasSubstr("--onnxruntime-library")));
}

TEST(OnnxRuntimeLibrary, RefusesALibraryThatIsAnotherOne) {
  const auto opened = open_onnxruntime("libm.so.6");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("libm.so.6 is not ONNX Runtime"));
}

}  // namespace
}  // namespace headroom::engine
