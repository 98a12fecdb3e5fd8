// The limit, and that a ticket counts once.
#include "serve/admission.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {

TEST(Admission, RefusesTheRequestAboveTheLimit) {
  Admission admission(2);
  auto first = admission.enter();
  auto second = admission.enter();
  EXPECT_EQ(admission.enter(), nullptr);
  second->release();
  EXPECT_NE(admission.enter(), nullptr);
}

TEST(Admission, ReleasesATicketOnce) {
  Admission admission(0);
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
  Admission admission(0);
  auto ticket = admission.enter();
  EXPECT_FALSE(admission.wait_idle(base::SystemClock::instance().steady()));
  ticket->release();
  EXPECT_TRUE(admission.wait_idle(base::SystemClock::instance().steady()));
}

}  // namespace headroom::serve
