// Tests of what making an engine refuses at once.
#include "engine/model_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ModelEngine, HasNoGpuWithOpenVino) {
  const auto made = make_model_engine({.engine = "openvino", .device = Device::kCuda, .model_dir = "/x"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(made.error().message, AllOf(HasSubstr("cuda"), HasSubstr("--engine onnxruntime")));
}

TEST(ModelEngine, NamesAMissingDirectory) {
  const auto made = make_model_engine({.engine = "openvino", .model_dir = "/nowhere/kokoro"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/nowhere/kokoro"));
}

}  // namespace
}  // namespace headroom::engine
