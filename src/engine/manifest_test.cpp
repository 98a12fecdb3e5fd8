// Tests of the manifest: a right directory passes, every kind of damage is named with its remedy.
#include "engine/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_model_dir.hpp"

namespace headroom::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Manifest, AcceptsTheFilesItLists) {
  TestModelDir dir;
  dir.fill({{"ir/model.xml", "<net/>"}, {"vocab.json", "{}"}});
  const auto manifest = load_manifest(dir.path());
  ASSERT_TRUE(manifest) << base::describe(manifest.error());
  EXPECT_EQ(manifest->model, "test");
  EXPECT_EQ(manifest->sample_rate, 24000);
  EXPECT_EQ(manifest->sha256.size(), 64U);
  EXPECT_TRUE(manifest->lists("vocab.json"));
  EXPECT_FALSE(manifest->lists("voices/af_heart.bin"));
  EXPECT_TRUE(verify_files(*manifest));
}

TEST(Manifest, NamesAMissingDirectoryAndTheRemedy) {
  const auto manifest = load_manifest("/nowhere/model");
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(manifest.error().message, AllOf(HasSubstr("/nowhere/model"), HasSubstr("./dev setup")));
}

TEST(Manifest, NamesAMissingFile) {
  TestModelDir dir;
  dir.fill({{"ir/model.xml", "<net/>"}});
  std::filesystem::remove(dir.path() + "/ir/model.xml");
  const auto checked = verify_files(*load_manifest(dir.path()));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, base::ErrorCode::kNotFound);
  EXPECT_THAT(checked.error().message, AllOf(HasSubstr("ir/model.xml"), HasSubstr("./dev setup")));
}

TEST(Manifest, NamesAFileOfTheSameSizeWithOtherBytes) {
  TestModelDir dir;
  dir.fill({{"ir/model.xml", "<net/>"}});
  dir.write("ir/model.xml", "<ten/>");
  const auto checked = verify_files(*load_manifest(dir.path()));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, base::ErrorCode::kInvalidData);
  EXPECT_THAT(checked.error().message,
              AllOf(HasSubstr("ir/model.xml"), HasSubstr("SHA-256"), HasSubstr("./dev setup")));
}

TEST(Manifest, NamesACutFileByItsSize) {
  TestModelDir dir;
  dir.fill({{"ir/model.bin", "weights"}});
  dir.write("ir/model.bin", "weig");
  const auto checked = verify_files(*load_manifest(dir.path()));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("4 bytes, the manifest says 7"));
}

TEST(Manifest, RefusesFilesThatWouldBeReadUnchecked) {
  for (const std::string extra : {"ir/front.bin", "lexicon/us_gold.json", "vocab.json"}) {
    TestModelDir dir;
    dir.fill({{"ir/front.xml", "<net/>"}, {"lexicon/gb_gold.json", "{}"}});
    dir.write("notes.txt", "nobody reads this");
    EXPECT_TRUE(check_nothing_unlisted(*load_manifest(dir.path())));
    dir.write(extra, "unchecked");
    const auto checked = check_nothing_unlisted(*load_manifest(dir.path()));
    ASSERT_FALSE(checked) << extra;
    EXPECT_THAT(checked.error().message, AllOf(HasSubstr(extra), HasSubstr("not in the manifest")));
  }
}

TEST(Manifest, RefusesPathsThatLeaveTheDirectory) {
  for (const std::string path : {"../secret", "/etc/passwd", "voices/../../x", ""}) {
    TestModelDir dir;
    dir.write("manifest.json",
              fmt::format(R"({{"schema":"headroom/model","version":1,"model":"m","sample_rate":24000,)"
                          R"("files":[{{"path":"{}","bytes":1,"sha256":"{}"}}]}})",
                          path, std::string(64, 'a')));
    const auto manifest = load_manifest(dir.path());
    ASSERT_FALSE(manifest) << path;
    EXPECT_THAT(manifest.error().message, HasSubstr("leaves the directory"));
  }
}

TEST(Manifest, RefusesEveryOtherForm) {
  for (
      const std::string text :
      {"", "null", "[]", "{", "{}",
       R"({"schema":"headroom/model","version":2,"model":"m","sample_rate":1,"files":[]})",
       R"({"schema":"headroom/model","version":1,"model":"m","sample_rate":24000,"files":[]})",
       R"({"schema":"headroom/model","version":1,"model":"m","sample_rate":24000,"files":[{"path":"a","bytes":1,"sha256":"AB"}]})",
       R"({"schema":"headroom/model","version":1,"model":5,"sample_rate":"x","files":{}})"}) {
    TestModelDir dir;
    dir.write("manifest.json", text);
    const auto manifest = load_manifest(dir.path());
    ASSERT_FALSE(manifest) << text;
    EXPECT_EQ(manifest.error().code, base::ErrorCode::kInvalidData) << text;
  }
}

}  // namespace
}  // namespace headroom::engine
