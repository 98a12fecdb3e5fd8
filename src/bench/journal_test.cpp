// The freeze tag's text and its way back.
#include <gtest/gtest.h>

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
  const std::string text = freeze_tag_text(record);
  EXPECT_LE(text.size(), 256U);
  EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.:/=+-@"),
            std::string::npos);
}

}  // namespace headroom::bench
