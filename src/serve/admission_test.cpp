// The limit, and that a ticket counts once.
#include "serve/admission.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {

TEST(Admission, RefusesTheRequestAboveTheLimit) {
  Admission admission(2, base::SystemClock::instance());
  auto first = admission.enter();
  auto second = admission.enter();
  EXPECT_EQ(admission.enter(), nullptr);
  second->release();
  EXPECT_NE(admission.enter(), nullptr);
}

TEST(Admission, ReleasesATicketOnce) {
  Admission admission(0, base::SystemClock::instance());
  {
    auto ticket = admission.enter();
    auto other = admission.enter();
    ticket->release();
    ticket->release();
    EXPECT_EQ(admission.outstanding(), 1U);
  }
  EXPECT_EQ(admission.outstanding(), 0U);
}

TEST(Admission, SaysWhenItIsStillBusy) {
  Admission admission(0, base::SystemClock::instance());
  auto ticket = admission.enter();
  EXPECT_FALSE(admission.wait_idle(base::SystemClock::instance().steady()));
  ticket->release();
  EXPECT_TRUE(admission.wait_idle(base::SystemClock::instance().steady()));
}

TEST(Admission, TellsOfAnIntervalWhatWasOfferedAndHowManyWereThere) {
  base::FakeClock clock;
  Admission admission(2, clock);
  auto first = admission.enter();
  clock.advance(std::chrono::seconds(3));
  auto second = admission.enter();
  EXPECT_EQ(admission.enter(), nullptr);
  admission.count_refused();
  clock.advance(std::chrono::seconds(1));
  const auto interval = admission.take_interval();
  EXPECT_EQ(interval.offered, 4U);
  EXPECT_EQ(interval.accepted, 2U);
  EXPECT_EQ(interval.outstanding_max, 2U);
  EXPECT_DOUBLE_EQ(interval.outstanding_average, (3 * 1 + 1 * 2) / 4.0);
  first->release();
  clock.advance(std::chrono::seconds(2));
  const auto next = admission.take_interval();  // what was there at its start counts for its maximum
  EXPECT_EQ(next.offered, 0U);
  EXPECT_EQ(next.outstanding_max, 2U);
  EXPECT_DOUBLE_EQ(next.outstanding_average, 1.0);
}

}  // namespace headroom::serve
