// SpeechPlan: a text as the segments that are synthesised one by one, and who makes it of the text.
//
// Units are part of the names. Plain values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "serve/speech_request.hpp"

namespace headroom::serve {

struct PlannedSegment {
  engine::Segment segment;
  double pause_before_s = 0.0;
  double pause_after_s = 0.0;
  double asked_pause_s = 0.0;  // the part of pause_after_s that the text asks for
  std::string phonemes;
  bool silent = false;  // nothing but its pauses
};

struct SpeechPlan {
  std::vector<PlannedSegment> segments;  // at least one
  std::size_t dropped_symbols = 0;       // of the text: they have no sound and were left out
};

// Text to segments. Called from several threads at once. An error's context is an API error code
// ("unspeakable_text", "unsupported_language") or empty for internal.
using Planner = std::function<base::Result<SpeechPlan>(const SpeechRequest&)>;

}  // namespace headroom::serve
