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

Planner text_planner(std::shared_ptr<const text::Frontend> frontend) {
  return [frontend = std::move(frontend)](const SpeechRequest& request) -> base::Result<SpeechPlan> {
    const auto language = request.lang.empty() ? text::language_of_voice(request.voice.front().name)
                                               : text::parse_language(request.lang);
    if (!language) return tl::unexpected(language.error());
    auto segments = frontend->segments(request.text, *language);
    if (!segments) return tl::unexpected(segments.error());
    SpeechPlan plan;
    for (auto& segment : *segments) {
      PlannedSegment planned;
      planned.segment.tokens = std::move(segment.tokens);
      planned.segment.voice = request.voice;
      planned.segment.speed = request.speed;
      planned.segment.characters = segment.characters;
      planned.segment.first = plan.segments.empty();
      planned.pause_before_s = segment.pause_before_s;
      planned.pause_after_s = segment.pause_after_at(request.speed);
      plan.segments.push_back(std::move(planned));
    }
    return plan;
  };
}

}  // namespace headroom::serve
