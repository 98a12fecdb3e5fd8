// When a client's next audio is due.
#include "serve/playback.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const base::SteadyTime kArrival{seconds(100)};
constexpr auto kSlo = seconds(3);

}  // namespace

TEST(Playback, BeginsWithThePromiseAndFollowsWhatWasSpokenUnheard) {
  const Playback playback(kArrival, kSlo);
  EXPECT_EQ(playback.deadline(0), kArrival + kSlo);
  EXPECT_EQ(playback.deadline(7), kArrival + kSlo + seconds(7));  // of a whole answer
  EXPECT_FALSE(playback.first_audio());
}

TEST(Playback, IsDueBeforeItRunsDry) {
  Playback playback(kArrival, kSlo);
  EXPECT_FALSE(playback.add(kArrival + seconds(1), 4));
  EXPECT_EQ(playback.first_audio(), kArrival + seconds(1));
  EXPECT_EQ(playback.deadline(4), kArrival + seconds(5) - milliseconds(500));
  EXPECT_EQ(playback.add(kArrival + seconds(3), 2), seconds(2));
  EXPECT_EQ(playback.deadline(6), kArrival + seconds(7) - milliseconds(500));
}

TEST(Playback, CountsFromNowOnAfterItRanDry) {
  Playback playback(kArrival, kSlo);
  playback.add(kArrival, 1);
  EXPECT_EQ(playback.add(kArrival + seconds(4), 2), -seconds(3));
  EXPECT_EQ(playback.deadline(3), kArrival + seconds(6) - milliseconds(500));
}

TEST(Playback, GetsANewPromiseWhereItRanDryThroughNoFaultOfOurs) {
  Playback playback(kArrival, kSlo);
  playback.resume(kArrival + seconds(60));  // nothing has been heard: the first promise holds
  EXPECT_EQ(playback.deadline(0), kArrival + kSlo);
  playback.add(kArrival, 2);
  playback.resume(kArrival + seconds(1));  // still playing
  EXPECT_EQ(playback.deadline(2), kArrival + milliseconds(1500));
  playback.resume(kArrival + seconds(60));
  EXPECT_EQ(playback.deadline(2), kArrival + seconds(63));
  EXPECT_FALSE(playback.add(kArrival + seconds(61), 1));  // no margin: it was not late
  EXPECT_EQ(playback.deadline(3), kArrival + seconds(62) - milliseconds(500));
}

}  // namespace headroom::serve
