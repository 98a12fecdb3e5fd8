// Pauses of a text in pieces against those of the whole.
#include "serve/piece_pauses.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

std::vector<PlannedSegment> sentence(double before_s, double asked_after_s) {
  std::vector<PlannedSegment> out(1);
  out[0].pause_before_s = before_s;
  out[0].asked_pause_s = out[0].pause_after_s = asked_after_s;
  return out;
}

}  // namespace

TEST(PiecePauses, KeepsWhatASentenceAsksForBesideTheNaturalPause) {
  PiecePauses pauses;
  auto one = sentence(0, 2);  // "One [pause:2s]."
  pauses.place(one, 0.4);
  EXPECT_DOUBLE_EQ(one[0].pause_after_s, 2.4);
  auto two = sentence(3, 0);  // "[pause:3s] Two."
  pauses.place(two, 0);
  EXPECT_DOUBLE_EQ(two[0].pause_before_s, 3);
  EXPECT_DOUBLE_EQ(two[0].pause_after_s, 0);
  EXPECT_DOUBLE_EQ(pauses.rest(), 0);
}

TEST(PiecePauses, CarriesABarePauseToTheNextSentence) {
  PiecePauses pauses;
  pauses.wait(1);
  EXPECT_DOUBLE_EQ(pauses.rest(), 0);  // before the first word there is no end to put it at
  auto one = sentence(0.5, 0);
  pauses.place(one, 0.4);
  EXPECT_DOUBLE_EQ(one[0].pause_before_s, 1.5);
  pauses.wait(2);
  EXPECT_DOUBLE_EQ(pauses.rest(), 2);
}

TEST(PiecePauses, HoldsTheLimitOfOneTextOverAllItsSentences) {
  PiecePauses pauses;
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    auto one = sentence(4, 4);
    pauses.place(one, 0.4);
    total += one[0].pause_before_s + one[0].pause_after_s - 0.4;
    pauses.wait(2);
  }
  EXPECT_NEAR(total + pauses.rest(), 60, 1e-9);
}

}  // namespace headroom::serve
