// RestRule: how long a busy lane may rest between two looks at its sockets.
//
// A look costs more than what it finds, so few looks with much in each are cheap. Two things bound the rest.
// A request that ended is seen, and its successor sent, up to one rest late: so a rest is at most a
// thousandth of the shortest of the latest requests. And of segments that arrive within one rest the kernel
// tells the time of the last only: as long as the first read of an answer brings one piece of body, that is
// its arrival; once one brings several, the rest is the shortest again. Pure. Thread safety: single.
#pragma once

#include "base/clock.hpp"

namespace headroom::load {

constexpr base::Duration kShortestRest = std::chrono::microseconds{500};
constexpr base::Duration kLongestRest = std::chrono::milliseconds{2};

class RestRule {
 public:
  // An answer ended: how long it took, and whether its first read brought one piece only. Returns the rest,
  // which grows only after a whole batch of answers (64) allowed it.
  base::Duration note(base::Duration length, bool one_piece_first);

 private:
  base::Duration before_ = kShortestRest;  // what the last whole batch allowed
  base::Duration latest_ = kLongestRest;   // what the answers since then allow
  int seen_ = 0;
};

}  // namespace headroom::load
