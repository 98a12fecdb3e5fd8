// A compiled graph counts only with the sum of its bytes.
#include "engine/compile_cache.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "engine/test_model_dir.hpp"

namespace headroom::engine {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& content) { std::ofstream(file) << content; }

}  // namespace

TEST(CompileCache, KeepsWhatItSealedAndDropsWhatChangedSince) {
  TestModelDir dir;
  const fs::path folder = fs::path(dir.path()) / "cache";
  {
    CompileCache cache(folder);
    EXPECT_TRUE(cache.drop_damaged().empty());
    write(folder / "1.blob", "weights");
    write(folder / "2.blob", "others");
    cache.seal();
  }
  EXPECT_TRUE(CompileCache(folder).drop_damaged().empty());
  write(folder / "1.blob", "weighty");
  CompileCache cache(folder);
  EXPECT_EQ(cache.drop_damaged(), std::vector{(folder / "1.blob").string()});
  EXPECT_TRUE(cache.usable());
  EXPECT_FALSE(fs::exists(folder / "1.blob"));
  EXPECT_TRUE(fs::exists(folder / "2.blob"));
  write(folder / "1.blob", "weights anew");
  write(folder / "2.blob", "rewritten by the runtime");
  cache.seal();
  EXPECT_TRUE(cache.drop_damaged().empty());
}

TEST(CompileCache, DropsAGraphWithoutASum) {
  TestModelDir dir;
  const fs::path folder = dir.path();
  write(folder / "1.blob", "half of what a stopped process wro");
  EXPECT_EQ(CompileCache(folder).drop_damaged().size(), 1U);
  EXPECT_FALSE(fs::exists(folder / "1.blob"));
}

TEST(CompileCache, IsNotUsedWithADamagedGraphThatStays) {
  TestModelDir dir;
  const fs::path folder = dir.path();
  fs::create_directories(folder / "1.blob" / "not empty");
  CompileCache cache(folder);
  EXPECT_EQ(cache.drop_damaged().size(), 1U);
  EXPECT_FALSE(cache.usable());
}

}  // namespace headroom::engine
