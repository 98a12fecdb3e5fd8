// Whether the limits are compared with what a load needs.
#include "base/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::base {
namespace {

using testing::HasSubstr;

TEST(Limits, NameWhatIsMissingAndItsRemedy) {
  EXPECT_TRUE(check_limits({.descriptors = 164, .local_ports = 100}, 100));
  const auto descriptors = check_limits({.descriptors = 163, .local_ports = 100}, 100);
  ASSERT_FALSE(descriptors);
  EXPECT_EQ(descriptors.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(descriptors.error().message, HasSubstr("ulimit -n 164"));
  const auto ports = check_limits({.descriptors = 1000, .local_ports = 99}, 100);
  ASSERT_FALSE(ports);
  EXPECT_THAT(ports.error().message, HasSubstr("ip_local_port_range"));
  EXPECT_TRUE(check_limits({.descriptors = 1000, .local_ports = 0}, 100));  // not known
}

TEST(Limits, AreReadAsRaised) {
  const Limits raised = raise_limits(64);
  EXPECT_GT(raised.descriptors, 0u);
  EXPECT_EQ(read_limits().descriptors, raised.descriptors);
}

}  // namespace
}  // namespace headroom::base
