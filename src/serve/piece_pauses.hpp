// PiecePauses: the pauses of a text whose sentences are planned one by one, as the whole text would have
// them.
//
// A sentence alone knows neither that another follows it nor what was asked for before; here each gets the
// natural pause behind it, a sentence of nothing but [pause:...] gives its pause to the next, and all that a
// text asks for stays within the limit of one text. Units: seconds. Single threaded; pure; no errors.
#pragma once

#include <vector>

#include "serve/speech_plan.hpp"

namespace headroom::serve {

class PiecePauses {
 public:
  // The next sentence, at least one segment. `natural_s`: the pause behind it, 0 if it is the last.
  void place(std::vector<PlannedSegment>& sentence, double natural_s);
  // A sentence that asks for a pause and says nothing.
  void wait(double asked_s) { waiting_ += grant(asked_s); }
  // At the end: what still waits behind the last word; 0 if there was no word.
  double rest() const { return placed_ ? waiting_ : 0.0; }

 private:
  double grant(double asked_s);  // as much of it as the limit leaves

  double granted_ = 0.0;
  double waiting_ = 0.0;
  bool placed_ = false;
};

}  // namespace headroom::serve
