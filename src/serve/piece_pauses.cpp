// Where the pauses of a text in pieces go.
#include "serve/piece_pauses.hpp"

#include <algorithm>
#include <utility>

#include "text/frontend.hpp"

namespace headroom::serve {

double PiecePauses::grant(double asked_s) {
  const double granted = std::min(asked_s, text::kLongestTotalPauseS - granted_);
  granted_ += granted;
  return granted;
}

void PiecePauses::place(std::vector<PlannedSegment>& sentence, double natural_s) {
  auto& first = sentence.front();
  first.pause_before_s = std::exchange(waiting_, 0.0) + grant(first.pause_before_s);
  for (auto& segment : sentence) {
    const double granted = grant(segment.asked_pause_s);
    segment.pause_after_s += granted - std::exchange(segment.asked_pause_s, granted);
  }
  sentence.back().pause_after_s += natural_s;
  placed_ = true;
}

}  // namespace headroom::serve
