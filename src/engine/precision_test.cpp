// Tests of the choice of precision.
#include "engine/precision.hpp"

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

TEST(Precision, IsNarrowOnlyWhereTheProcessorMultipliesIt) {
  EXPECT_EQ(resolve_precision(Precision::kAuto, {}), Precision::kF32);
  EXPECT_EQ(resolve_precision(Precision::kAuto, {.avx512_bf16 = true}), Precision::kBf16);
  EXPECT_EQ(resolve_precision(Precision::kAuto, {.amx_bf16 = true}), Precision::kBf16);
}

TEST(Precision, StaysAsWished) {
  EXPECT_EQ(resolve_precision(Precision::kBf16, {}), Precision::kBf16);
  EXPECT_EQ(resolve_precision(Precision::kF32, {.avx512_bf16 = true, .amx_bf16 = true}), Precision::kF32);
}

TEST(Precision, IsReadAndNamed) {
  for (const auto name : {"auto", "f32", "bf16"}) EXPECT_EQ(precision_name(parse_precision(name)), name);
}

}  // namespace
}  // namespace headroom::engine
