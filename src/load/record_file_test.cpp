// Tests of the file of requests and its CSV.
#include "load/record_file.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>

namespace headroom::load {
namespace {

using std::chrono::milliseconds;

class RecordFileTest : public testing::Test {
 protected:
  ~RecordFileTest() override { std::remove(path.c_str()); }
  std::vector<std::string> lines() {
    std::vector<std::string> out;
    const auto done = export_csv(path, [&out](const std::string& line) { out.push_back(line); });
    if (!done) out.push_back("error: " + done.error().message);
    return out;
  }
  base::FakeClock clock;
  const std::string path = testing::TempDir() + "requests.jsonl.gz";
};

TEST_F(RecordFileTest, EveryRequestComesBackAsALineOfCsv) {
  auto file = *RecordFile::create(path, clock, "\"run_id\":\"x\"");
  Record record;
  record.index = 7;
  record.planned = record.start = clock.steady() + milliseconds{250};
  record.first_byte = record.start + milliseconds{60};
  record.end = record.start + milliseconds{100};
  record.chunks = {{milliseconds{60}, 320}, {milliseconds{90}, 160}};
  record.bytes = 480;
  record.outcome = Outcome::kOk;
  record.status = 200;
  record.server_request_id = "a\"b,c";
  file->add(record);
  record = Record{};
  record.error = "cut\xff short";  // not UTF-8
  file->add(record);
  ASSERT_TRUE(file->close());
  const auto got = lines();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(
      got[0],
      "index,planned_s,start_s,connected_ms,first_byte_ms,first_audible_ms,end_s,cap_wait_ms,bytes,audio_s,"
      "underruns,underrun_s,outcome,status,error,request_id,chunks");
  EXPECT_EQ(got[1], "7,0.25,0.25,,60.0,,0.35,0.0,480,0.0,0,0.0,\"ok\",200,\"\",\"a\"\"b,c\",2");
  EXPECT_NE(got[2].find("\"failed\""), std::string::npos);
}

TEST_F(RecordFileTest, AKilledRunLeavesWhatItHadUnderAnotherName) {
  {
    auto file = *RecordFile::create(path, clock, "");
    file->add(Record{});
  }
  EXPECT_NE(lines().back().find("cannot read"), std::string::npos);
  std::rename((path + ".partial").c_str(), path.c_str());
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(RecordFileTest, SaysWhereAFileIsCutShort) {
  {
    auto file = *RecordFile::create(path, clock, "");
    Record record;
    for (record.index = 0; record.index < 5'000; ++record.index) file->add(record);
    ASSERT_TRUE(file->close());
  }
  ASSERT_EQ(lines().size(), 5'001u);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto got = lines();
  EXPECT_LT(got.size(), 5'000u);
  // One row is the heading, which stands for the file's first line; the last is the error.
  EXPECT_NE(got.back().find(":" + std::to_string(got.size()) + ": the file is cut short"), std::string::npos)
      << got.back();
}

TEST_F(RecordFileTest, RefusesOtherFiles) {
  std::ofstream(path) << "{\"schema\":\"headroom/qmax\",\"version\":1}\n";
  EXPECT_NE(lines().back().find("no file of requests"), std::string::npos);
  std::ofstream(path) << "{\"schema\":\"headroom/requests\",\"version\":1}\nnonsense\n";
  EXPECT_NE(lines().back().find(":2: this line is no JSON object"), std::string::npos);
  EXPECT_FALSE(RecordFile::create("/nonexistent/folder/x", clock, ""));
}

TEST_F(RecordFileTest, OnAFullDiskThePartKeepsItsNameAndTheErrorSaysWhere) {
  const std::string partial = path + ".partial";
  std::filesystem::create_symlink("/dev/full", partial);
  auto file = *RecordFile::create(path, clock, "");
  file->add(Record{});
  const auto closed = file->close();
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path)));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(partial)));
  std::remove(partial.c_str());
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, base::ErrorCode::kIo);
  EXPECT_NE(closed.error().message.find(partial), std::string::npos) << closed.error().message;
  EXPECT_TRUE(file->close());  // said once
}

}  // namespace
}  // namespace headroom::load
