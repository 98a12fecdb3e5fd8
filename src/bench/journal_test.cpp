// The freeze tag's text and its way back.
#include <gtest/gtest.h>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "bench/freeze.hpp"

namespace headroom::bench {

TEST(FreezeTag, ReadsWhatItWrites) {
  FreezeRecord record;
  record.run_id = base::make_run_id(base::WallTime{std::chrono::seconds{1'800'000'000}}, 7);
  record.desired = 3;
  record.has_target = true;
  record.flags = {true, false, true};
  record.epoch_s = 1'800'000'000;
  const std::string text = freeze_tag_text(record);
  EXPECT_NE(text.find("desired=3 flags=101 t=1800000000"), std::string::npos) << text;
  EXPECT_EQ(parse_freeze_tag(text), record);
}

TEST(FreezeTag, SaysThatThereWasNoTarget) {
  FreezeRecord record;
  record.run_id = base::make_run_id(base::WallTime{std::chrono::seconds{1'800'000'000}}, 7);
  EXPECT_NE(freeze_tag_text(record).find("flags=-"), std::string::npos);
  EXPECT_EQ(parse_freeze_tag(freeze_tag_text(record)), record);
}

TEST(FreezeTag, NamesItsVariantAndReadsTagsThatDoNot) {
  FreezeRecord record;
  record.run_id = base::make_run_id(base::WallTime{std::chrono::seconds{1'800'000'000}}, 7);
  aws::EndpointDescription endpoint;
  endpoint.variants.resize(1);
  endpoint.variants[0].name = "A";
  EXPECT_EQ(frozen_variant(*parse_freeze_tag(freeze_tag_text(record)), endpoint), "A");
  endpoint.variants.resize(2);
  EXPECT_EQ(frozen_variant(*parse_freeze_tag(freeze_tag_text(record)), endpoint), std::nullopt);
  record.variant = "B-2";
  EXPECT_EQ(parse_freeze_tag(freeze_tag_text(record)), record);
  EXPECT_EQ(frozen_variant(record, endpoint), "B-2");
  EXPECT_FALSE(parse_freeze_tag(freeze_tag_text(record) + " variant=C"));
  EXPECT_NE(thaw_line({.endpoint = "e", .variant = "A"}, record).find("--variant B-2"), std::string::npos);
}

TEST(FreezeTruth, IsTheJournalOfTheSameRunAndElseTheTag) {
  FreezeRecord tag, journal;
  tag.run_id = journal.run_id = "a";
  tag.desired = 1;
  journal.desired = 2;
  EXPECT_EQ(truth_of(tag, journal).desired, 2);
  journal.run_id = "b";
  EXPECT_EQ(truth_of(tag, journal).desired, 1);
  EXPECT_EQ(truth_of(tag, std::nullopt).desired, 1);
  EXPECT_EQ(truth_of(std::nullopt, journal).desired, 2);
}

TEST(FreezeJournal, OfOtherTypesIsSpoiltAndNoCrash) {
  const std::string path = testing::TempDir() + "freeze-journal.json";
  for (const char* text :
       {R"({"schema":1,"run":"x"})", R"({"schema":"headroom/freeze","run":1})", "[]", "1", "{"}) {
    ASSERT_TRUE(base::write_file_atomically(path, text, 0600));
    const auto read = read_journal(path);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, base::ErrorCode::kInvalidData) << text;
  }
}

TEST(RestorePatience, WaitsForCredentialsAndGivesRejectedOnesMinutes) {
  using base::ErrorCode;
  EXPECT_LT(count_patience({ErrorCode::kResourceExhausted, "x", {}}), std::chrono::minutes(5));
  EXPECT_EQ(count_patience({ErrorCode::kConflict, "x", {}}),
            restore_patience({ErrorCode::kConflict, "x", {}}));
  const auto of = [](ErrorCode code, std::string context) { return restore_patience({code, "x", context}); };
  EXPECT_GE(of(ErrorCode::kUnauthenticated, std::string(aws::kNoCredentials) + ": code 6146"),
            std::chrono::minutes(30));
  EXPECT_GE(of(ErrorCode::kUnauthenticated, "ExpiredTokenException"), std::chrono::minutes(1));
  EXPECT_LE(of(ErrorCode::kUnauthenticated, "ExpiredTokenException"), std::chrono::minutes(10));
  EXPECT_EQ(of(ErrorCode::kForbidden, "AccessDeniedException"), base::Duration{});
  EXPECT_GE(of(ErrorCode::kUnavailable, ""), std::chrono::minutes(30));
}

TEST(FreezeTag, RefusesWhatIsNotOurs) {
  for (const char* text :
       {"", "v2 run=x", "v1", "v1 run=../x desired=1 flags=000 t=1", "v1 desired=1 flags=000 t=1",
        "v1 run=0000000000000 desired=-1 flags=000 t=1", "v1 run=0000000000000 desired=1 flags=012 t=1"}) {
    EXPECT_FALSE(parse_freeze_tag(text)) << text;
  }
}

TEST(FreezeTag, StaysWithinTheCharactersOfTags) {
  FreezeRecord record;
  record.run_id = base::make_run_id(base::WallTime{std::chrono::seconds{1'800'000'000}}, 7);
  record.variant = std::string(63, 'v');
  const std::string text = freeze_tag_text(record);
  EXPECT_LE(text.size(), 256U);
  EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.:/=+-@"),
            std::string::npos);
}

}  // namespace headroom::bench
