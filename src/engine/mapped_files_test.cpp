// Tests that pages of a mapped file go back and come again with the same bytes.
#include "engine/mapped_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/test_model_dir.hpp"

namespace headroom::engine {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;

class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    data_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
  }
  ~Mapping() { ::munmap(data_, kBytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::string_view view() const { return {static_cast<const char*>(data_), kBytes}; }

 private:
  void* data_;
};

TEST(MappedFiles, AreGivenBackAndReadAgain) {
  TestModelDir dir;
  const std::string content(kBytes, 'x');
  dir.write("a.blob", content);
  const Mapping mapping(dir.path() + "/a.blob");
  EXPECT_EQ(mapping.view(), content);
  EXPECT_EQ(release_mapped_files(dir.path()), kBytes);
  EXPECT_EQ(mapping.view(), content);
}

TEST(MappedFiles, OutsideTheFolderStay) {
  TestModelDir dir;
  dir.write("in/a.blob", "x");
  dir.write("inside.blob", std::string(kBytes, 'y'));
  const Mapping mapping(dir.path() + "/inside.blob");
  EXPECT_EQ(release_mapped_files(dir.path() + "/in"), 0U);
  EXPECT_EQ(release_mapped_files(""), 0U);
}

}  // namespace
}  // namespace headroom::engine
