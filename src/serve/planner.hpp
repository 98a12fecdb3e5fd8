// Planners: from a request's text to the segments that the engine speaks.
#pragma once

#include "serve/speech_job.hpp"

namespace headroom::serve {

// For the paced engine: the whole text is one segment; only its length counts.
Planner paced_planner();

}  // namespace headroom::serve
