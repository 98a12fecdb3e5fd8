// Plans what a job speaks: a whole text at once, or sentence by sentence as a text in pieces comes in.
//
// Units: seconds. A PiecePlanner is single threaded; plan_text may be called from several threads. Errors:
// the planner's (speech_plan.hpp).
#pragma once

#include <vector>

#include "serve/metrics.hpp"
#include "serve/piece_pauses.hpp"
#include "serve/speech_plan.hpp"

namespace headroom::serve {

// What has no sound is told to the metrics.
base::Result<std::vector<PlannedSegment>> plan_text(const SpeechRequest& request, const Planner& planner,
                                                    Metrics& metrics);

class PiecePlanner {
 public:
  // Both outlive it.
  PiecePlanner(const Planner& planner, Metrics& metrics) : planner_(planner), metrics_(metrics) {}

  // The next sentence; `final`: nothing follows it, and its text may be blank. Empty, if there is nothing to
  // say and no pause to keep: a sentence that cannot be spoken is no error, the others say something.
  base::Result<std::vector<PlannedSegment>> plan(const SpeechRequest& sentence, bool final);

 private:
  const Planner& planner_;
  Metrics& metrics_;
  PiecePauses pauses_;
};

}  // namespace headroom::serve
