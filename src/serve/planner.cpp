// The planners.
#include "serve/planner.hpp"

namespace headroom::serve {

Planner paced_planner() {
  return [](const SpeechRequest& request) -> base::Result<SpeechPlan> {
    PlannedSegment planned;
    planned.segment.voice = request.voice;
    planned.segment.speed = request.speed;
    planned.segment.characters = request.characters;
    return SpeechPlan{{std::move(planned)}, 0};
  };
}

}  // namespace headroom::serve
