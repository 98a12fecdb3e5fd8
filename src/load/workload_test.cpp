// Tests of workloads and request bodies.
#include "load/workload.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace headroom::load {
namespace {

using testing::HasSubstr;

class FileWorkload : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  base::Result<Workload> read(const std::string& text) {
    std::ofstream(path_) << text;
    return Workload::make("file:" + path_);
  }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("headroom-workload-" + std::to_string(::getpid()))).string();
};

TEST(Workload, ShortIsAsLongAsThePublishedRun) {
  const auto workload = Workload::make("short");
  ASSERT_TRUE(workload);
  EXPECT_NEAR(workload->mean_characters(), 25.2, 0.5);
  for (std::size_t i = 0; i < workload->size(); ++i) EXPECT_LE(workload->at(i).text.size(), 32u);
}

TEST(Workload, SameSeedGivesTheSameTextsAndHash) {
  const BodyFormat body = *body_format("sagemaker", "af_heart", "wav");
  for (const char* spec : {"short", "agent"}) {
    const auto a = Workload::make(spec, 7), b = Workload::make(spec, 7), c = Workload::make(spec, 8);
    EXPECT_EQ(a->at(3).text, b->at(3).text);
    EXPECT_EQ(a->hash(body), b->hash(body));
    EXPECT_NE(a->hash(body), c->hash(body));
    EXPECT_NE(a->hash(body), a->hash(*body_format("sagemaker", "af_heart", "pcm")));
    EXPECT_EQ(a->hash(body).size(), 16u);
    EXPECT_EQ(a->at(a->size() + 2).text, a->at(2).text);
  }
}

TEST(Workload, AgentTurnsHaveOneToThreeSentences) {
  const auto workload = Workload::make("agent");
  std::size_t shortest = 9, longest = 0;
  for (std::size_t i = 0; i < workload->size(); ++i) {
    const std::string& text = workload->at(i).text;
    const auto sentences = static_cast<std::size_t>(std::count(text.begin(), text.end(), '.'));
    shortest = std::min(shortest, sentences);
    longest = std::max(longest, sentences);
  }
  EXPECT_EQ(shortest, 1u);
  EXPECT_EQ(longest, 3u);
}

TEST(Workload, RefusesAnUnknownName) {
  const auto workload = Workload::make("long");
  ASSERT_FALSE(workload);
  EXPECT_THAT(workload.error().message, HasSubstr("'long'"));
}

TEST_F(FileWorkload, ReadsTextsAndTimes) {
  const auto workload = read("{\"text\":\"Hello.\"}\n\n{\"text\":\"Bye.\",\"t_s\":1.5}\n");
  ASSERT_TRUE(workload);
  ASSERT_EQ(workload->size(), 2u);
  EXPECT_EQ(workload->at(0).at, std::nullopt);
  EXPECT_EQ(workload->at(1).at, base::from_s(1.5));
}

TEST_F(FileWorkload, NamesTheBadLine) {
  for (const char* bad :
       {"{\"text\":\"a\"}\n[1]\n", "{\"text\":\"a\"}\n{\"text\":\"\"}\n", "{\"text\":\"a\"}\n{}\n",
        "{\"text\":\"a\"}\n{\"text\":\"a\",\"t_s\":-1}\n", "{\"text\":\"a\"}\n{\n"}) {
    const auto workload = read(bad);
    ASSERT_FALSE(workload) << bad;
    EXPECT_THAT(workload.error().message, HasSubstr(":2: ")) << bad;
  }
  EXPECT_FALSE(read("\n"));
  EXPECT_EQ(Workload::make("file:/nowhere.jsonl").error().code, base::ErrorCode::kIo);
}

TEST(Body, EscapesTextForJson) {
  const BodyFormat format = *body_format("openai", "af_heart", "pcm");
  const std::string text = "She said \"hi\"\n{{text}} \\";
  const auto parsed = nlohmann::json::parse(render_body(format, text));
  EXPECT_EQ(parsed["input"], text);
  EXPECT_EQ(parsed["response_format"], "pcm");
  EXPECT_FALSE(body_format("grpc", "v", "wav"));
  EXPECT_FALSE(body_format("sagemaker", "v", "midi"));
  BodyFormat plain;
  plain.content_type = "text/plain";
  plain.text_template = "<{{text}}|{{text}}>";
  EXPECT_EQ(render_body(plain, "a\"b"), "<a\"b|a\"b>");
}

}  // namespace
}  // namespace headroom::load
