// Planners: from a request's text to the segments that the engine speaks.
#pragma once

#include <memory>

#include "serve/speech_plan.hpp"
#include "text/frontend.hpp"

namespace headroom::serve {

// For the paced engine, where only lengths count. One service per request, the whole text one segment; or one
// per sentence, each a segment, as a real engine would work.
enum class PacedUnit { kRequest, kSentence };
Planner paced_planner(PacedUnit unit = PacedUnit::kRequest);

// For real speech: phonemes and segments by the text frontend, for the request's speed; the language is the
// request's, else the voice's.
Planner text_planner(std::shared_ptr<const text::Frontend> frontend);

}  // namespace headroom::serve
