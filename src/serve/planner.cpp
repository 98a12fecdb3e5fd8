// The planners.
#include "serve/planner.hpp"

#include "serve/sentence_buffer.hpp"

namespace headroom::serve {

Planner paced_planner(PacedUnit unit) {
  return [unit](const SpeechRequest& request) -> base::Result<SpeechPlan> {
    SpeechPlan plan;
    const auto add = [&](std::size_t characters) {
      PlannedSegment planned;
      planned.segment.voice = request.voice;
      planned.segment.speed = request.speed;
      planned.segment.characters = characters;
      plan.segments.push_back(std::move(planned));
    };
    if (unit == PacedUnit::kRequest) {
      add(request.characters);
      return plan;
    }
    SentenceBuffer buffer;
    buffer.add(request.text);
    for (const std::string& sentence : buffer.take_complete()) add(count_characters(sentence));
    if (const std::string rest = buffer.take_rest(); !rest.empty() || plan.segments.empty())
      add(count_characters(rest));
    return plan;
  };
}

Planner text_planner(std::shared_ptr<const text::Frontend> frontend) {
  return [frontend = std::move(frontend)](const SpeechRequest& request) -> base::Result<SpeechPlan> {
    const auto language = request.lang.empty() ? text::language_of_voice(request.voice.front().name)
                                               : text::parse_language(request.lang);
    if (!language) return tl::unexpected(language.error());
    SpeechPlan plan;
    auto segments =
        frontend->segments(request.text, *language, request.normalise, request.speed, &plan.dropped_symbols);
    if (!segments) return tl::unexpected(segments.error());
    for (auto& segment : *segments) {
      PlannedSegment planned;
      planned.segment.tokens = std::move(segment.tokens);
      planned.segment.voice = request.voice;
      planned.segment.speed = request.speed;
      planned.segment.characters = segment.characters;
      planned.segment.first = plan.segments.empty();
      planned.phonemes = std::move(segment.phonemes);
      planned.pause_before_s = segment.pause_before_s;
      planned.asked_pause_s = segment.asked_pause_s;
      planned.pause_after_s = segment.pause_after_at(request.speed);
      plan.segments.push_back(std::move(planned));
    }
    return plan;
  };
}

}  // namespace headroom::serve
