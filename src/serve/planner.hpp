// Planners: from a request's text to the segments that the engine speaks.
#pragma once

#include <memory>

#include "serve/speech_job.hpp"
#include "text/frontend.hpp"

namespace headroom::serve {

// For the paced engine: the whole text is one segment; only its length counts.
Planner paced_planner();

// For real speech: phonemes and segments by the text frontend; the language is the request's, else the
// voice's.
Planner text_planner(std::shared_ptr<const text::Frontend> frontend);

}  // namespace headroom::serve
