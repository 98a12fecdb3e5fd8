// What a client asks for, parsed and checked from the JSON of any route (SPEC 1.1).
//
// Does not touch the text beyond counting its characters. Pure; immutable after parsing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "audio/encoder.hpp"
#include "engine/engine.hpp"
#include "serve/api_error.hpp"
#include "text/normalise.hpp"

namespace headroom::serve {

struct SpeechRequest {
  std::string text;
  std::size_t characters = 0;  // code points
  engine::Voice voice;
  std::string voice_name;  // as asked
  float speed = 1.0F;
  std::string lang;  // empty: from the voice
  text::NormaliseOptions normalise;
  audio::Format format = audio::Format::kWav;
  int sample_rate = 24000;
  bool stream = false;
  bool sse = false;     // server-sent events instead of plain bytes; always streamed
  bool pieces = false;  // the text follows piece by piece
};

struct RequestLimits {
  std::size_t max_characters = 10'000;
  std::size_t max_answer_bytes = std::size_t{64} << 20;  // of an answer that is not streamed
};

using ParsedRequest = tl::expected<SpeechRequest, ApiFailure>;

// POST /invocations. `voices` is the engine's sorted list; a name that is not in it is refused and never used
// in a path.
ParsedRequest parse_speech_request(std::string_view body, std::string_view content_type,
                                   const RequestLimits& limits, const std::vector<std::string>& voices);

// POST /v1/audio/speech: OpenAI's field names, and its voices as aliases (openai_names.hpp).
ParsedRequest parse_openai_request(std::string_view body, std::string_view content_type,
                                   const RequestLimits& limits, const std::vector<std::string>& voices);

// "af_heart" or "af_heart(2)+af_bella(1)".
tl::expected<engine::Voice, ApiFailure> parse_voice(std::string_view text,
                                                    const std::vector<std::string>& voices);

std::size_t count_characters(std::string_view utf8);

}  // namespace headroom::serve
