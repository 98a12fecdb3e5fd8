// Tests of what affinity and control groups leave of a machine's cores.
#include "engine/cpu_limits.hpp"

#include <map>

#include <gtest/gtest.h>

namespace headroom::engine {
namespace {

ReadText files(std::map<std::string, std::string> content) {
  return [content = std::move(content)](const std::string& path) -> std::optional<std::string> {
    const auto found = content.find(path);
    return found == content.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(CpuLimits, TakesWholeCoresWithinAffinityAndQuota) {
  EXPECT_EQ((CpuLimits{8, std::nullopt}.cores()), 8);
  EXPECT_EQ((CpuLimits{8, 2.0}.cores()), 2);
  EXPECT_EQ((CpuLimits{8, 2.9}.cores()), 2);
  EXPECT_EQ((CpuLimits{2, 6.0}.cores()), 2);
  EXPECT_EQ((CpuLimits{8, 0.5}.cores()), 1);
  EXPECT_EQ((CpuLimits{1, std::nullopt}.cores()), 1);
  EXPECT_EQ((CpuLimits{8, 1e300}.cores()), 8);
}

TEST(CpuLimits, ReadsTheQuotaOfASecondVersionGroup) {
  EXPECT_DOUBLE_EQ(*quota_of("0::/\n", files({{"/sys/fs/cgroup/cpu.max", "150000 100000\n"}})), 1.5);
  EXPECT_FALSE(quota_of("0::/\n", files({{"/sys/fs/cgroup/cpu.max", "max 100000\n"}})));
  EXPECT_FALSE(quota_of("0::/\n", files({})));
}

TEST(CpuLimits, TakesTheSmallestQuotaOfAGroupAndAllAboveIt) {
  const auto read = files({{"/sys/fs/cgroup/cpu.max", "max 100000\n"},
                           {"/sys/fs/cgroup/pod/cpu.max", "200000 100000\n"},
                           {"/sys/fs/cgroup/pod/app/cpu.max", "300000 100000\n"}});
  EXPECT_DOUBLE_EQ(*quota_of("0::/pod/app\n", read), 2.0);
}

TEST(CpuLimits, ReadsTheQuotaOfAFirstVersionGroup) {
  const std::string groups = "4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n2:cpuset:/docker/a\n";
  const auto container = files({{"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n"},
                                {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}});
  EXPECT_DOUBLE_EQ(*quota_of(groups, container), 4.0);
  const auto machine = files({{"/sys/fs/cgroup/cpu/docker/a/cpu.cfs_quota_us", "50000\n"},
                              {"/sys/fs/cgroup/cpu/docker/a/cpu.cfs_period_us", "100000\n"},
                              {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                              {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}});
  EXPECT_DOUBLE_EQ(*quota_of(groups, machine), 0.5);
  EXPECT_FALSE(quota_of("2:cpuset:/docker/a\n", container));
}

TEST(CpuLimits, TakesDamagedFilesForNoLimit) {
  for (const char* text : {"", "x", "100000", "0 100000", "100000 0", "nan 100000", "-5 100000"})
    EXPECT_FALSE(quota_of("0::/\n", files({{"/sys/fs/cgroup/cpu.max", text}}))) << text;
  EXPECT_FALSE(quota_of("no colon\n1:cpu\n::\n", files({})));
}

TEST(CpuLimits, FindsAtLeastOneCoreHere) { EXPECT_GE(cpu_limits().cores(), 1); }

}  // namespace
}  // namespace headroom::engine
