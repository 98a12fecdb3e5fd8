// Atomic files and SHA-256.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/atomic_file.hpp"
#include "base/sha256.hpp"

namespace headroom::base {
namespace {

using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  Files() {
    char name[] = "/tmp/headroom-files-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

TEST_F(Files, AreReplacedWholeAndLeaveNoTemporaryBehind) {
  ASSERT_TRUE(write_file_atomically(path("a"), "old"));
  ASSERT_TRUE(write_file_atomically(path("a"), "new"));
  EXPECT_EQ(*read_file(path("a")), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, GetTheModeThatWasAskedFor) {
  ASSERT_TRUE(write_file_atomically(path("a"), "x", 0600));
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(Files, NameThePathThatCannotBeWrittenOrRead) {
  const auto written = write_file_atomically(path("no/such/a"), "x");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("no/such/a"));
  EXPECT_EQ(read_file(path("b")).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(sha256_file(path("b")).error().code, ErrorCode::kNotFound);
}

TEST_F(Files, AboveTheLimitAreRefused) {
  ASSERT_TRUE(write_file_atomically(path("a"), std::string(100, 'x')));
  EXPECT_EQ(read_file(path("a"), 99).error().code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(read_file(path("a"), 100));
}

TEST_F(Files, AreRemovedOnceAndTwice) {
  ASSERT_TRUE(write_file_atomically(path("a"), "x"));
  EXPECT_TRUE(remove_file(path("a")));
  EXPECT_FALSE(file_exists(path("a")));
  EXPECT_TRUE(remove_file(path("a")));
}

TEST_F(Files, FoldersAreMadeWithTheirParents) {
  EXPECT_TRUE(make_directories(path("x/y/z")));
  EXPECT_TRUE(make_directories(path("x/y/z/")));
  ASSERT_TRUE(write_file_atomically(path("file"), "x"));
  EXPECT_FALSE(make_directories(path("file/under")));
}

TEST_F(Files, HashAsTheStandardSays) {
  constexpr const char* kAbc =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // FIPS 180-2
  EXPECT_EQ(sha256_hex("abc"), kAbc);
  ASSERT_TRUE(write_file_atomically(path("a"), "abc"));
  EXPECT_EQ(*sha256_file(path("a")), kAbc);
}

}  // namespace
}  // namespace headroom::base
