// Appending where the disk is full, and what a restart reads after it.
#include "cloud/metric_journal.hpp"

#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace headroom::cloud {
namespace {

// While it lives, no file of this process grows above `bytes`: a write ends in the middle, then fails.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit low{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

struct Journal : testing::Test {
  base::FakeClock clock;
  base::Guarded<World> world{World(clock)};
  std::string folder = testing::TempDir() + "headroom-journal-" + std::to_string(getpid());
  std::string path = folder + "/metrics.jsonl";

  void SetUp() override {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void load(MetricJournal& journal) {
    world.with([&](World& w) { ASSERT_TRUE(journal.load(w)); });
  }
  void put(const char* name, double value) {
    world.with(
        [&](World& w) { w.metrics.put(make_key("N", name, {}), one_reading(value), clock.wall(), ""); });
    clock.advance(std::chrono::seconds(1));
  }
  bool append_to_full_disk(MetricJournal& journal, std::uintmax_t more) {
    const FullDisk full(std::filesystem::file_size(path) + more);
    return journal.append(world).has_value();
  }
  // What another run of the cloud knows of it.
  double sum_after_restart(const char* name) {
    World again(clock);
    MetricJournal journal(folder);
    EXPECT_TRUE(journal.load(again));
    const auto points = again.metrics.query(make_key("N", name, {}), *parse_statistic("Sum"), 3600,
                                            clock.wall() - std::chrono::hours(2), clock.wall());
    double sum = 0;
    for (const MetricPoint& point : points) sum += point.value;
    return sum;
  }
};

TEST_F(Journal, KeepsWhatAFullDiskRefused) {
  MetricJournal journal(folder);
  load(journal);
  put("old", 1);
  ASSERT_TRUE(journal.append(world));
  const auto before = std::filesystem::file_size(path);
  put("old", 2);
  put("new", 10);
  EXPECT_FALSE(append_to_full_disk(journal, 25));
  EXPECT_EQ(std::filesystem::file_size(path), before);  // no half line stays
  put("new", 20);
  EXPECT_FALSE(append_to_full_disk(journal, 0));
  put("old", 4);
  put("new", 40);
  EXPECT_TRUE(journal.append(world));
  put("new", 80);
  EXPECT_TRUE(journal.append(world));
  EXPECT_EQ(sum_after_restart("old"), 7);
  EXPECT_EQ(sum_after_restart("new"), 150);
}

TEST_F(Journal, NamesItsSeriesAgainWhenTheirNamesWereForgotten) {
  MetricJournal journal(folder, 10);  // bytes: nothing can wait
  load(journal);
  put("a", 1);
  put("b", 2);
  EXPECT_FALSE(append_to_full_disk(journal, 25));
  put("a", 4);
  put("b", 8);
  EXPECT_TRUE(journal.append(world));
  EXPECT_EQ(sum_after_restart("a"), 4);
  EXPECT_EQ(sum_after_restart("b"), 8);
}

}  // namespace
}  // namespace headroom::cloud
