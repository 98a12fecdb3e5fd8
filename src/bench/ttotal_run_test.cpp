// What a run takes from a curve and from its own driver, and how it says how far it is.
#include "bench/ttotal_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headroom::bench {
namespace {

using namespace std::chrono_literals;

TEST(P95At, IsLinearBetweenRungsAndUnknownBeyondThem) {
  std::vector<capacity::Rung> rungs(3);
  rungs[0].n = 1;
  rungs[0].p95_ms = 100;
  rungs[1].n = 5;
  rungs[1].p95_ms = 500;
  rungs[2].n = 5;
  rungs[2].p95_ms = 9000;
  rungs[2].repeat = true;  // a sustain is no part of the curve
  EXPECT_EQ(p95_at(rungs, 1), 100);
  EXPECT_EQ(p95_at(rungs, 3), 300);
  EXPECT_EQ(p95_at(rungs, 5), 500);
  EXPECT_FALSE(p95_at(rungs, 6));
  EXPECT_FALSE(p95_at({}, 1));
}

load::WindowView view_of(bool bound, const std::string& why = {}) {
  load::WindowView view;
  view.client_bound = bound;
  view.client_bound_why = why;
  return view;
}

TEST(ClientBound, IsSaidOfTheLoadAndOfTheRecoveryThatWasJudged) {
  EXPECT_FALSE(client_bound_why(view_of(false), view_of(false)));
  EXPECT_FALSE(client_bound_why(view_of(false), std::nullopt));
  EXPECT_EQ(client_bound_why(view_of(true, "it held 9.0 of 10.0 asked"), std::nullopt),
            "under the load, the driver was the limit: it held 9.0 of 10.0 asked");
  EXPECT_EQ(client_bound_why(view_of(true, "a"), view_of(true, "b")),
            "while recovery was judged, the driver was the limit: b");
}

TEST(TtotalStanding, NamesTheStageAndFitsATerminal) {
  TtotalStanding standing{"container_started", 4.4, 187, 3600, 10, "512 ms"};
  EXPECT_EQ(progress_line(standing), "  container_started 4 s ago, 187 of 3600 s, in flight 10, p95 512 ms");
  standing = {"container_started", 3599, 3599, 7200, 100, "59000 ms"};
  EXPECT_LT(progress_line(standing).size(), 80U);
}

}  // namespace
}  // namespace headroom::bench
