// OpenAI's names for models and voices, and what they stand for here.
//
// Immutable tables. Source of the names: OpenAI's API reference, Create speech.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::serve {

inline constexpr std::array<std::string_view, 4> kOpenAiModels{"kokoro", "tts-1", "tts-1-hd",
                                                               "gpt-4o-mini-tts"};

struct VoiceAlias {
  std::string_view alias;
  std::array<std::string_view, 2> voices;  // the first one that the model has
};
inline constexpr std::array kVoiceAliases{
    VoiceAlias{"alloy", {"af_alloy", "af_heart"}},   VoiceAlias{"ash", {"am_michael", "am_adam"}},
    VoiceAlias{"ballad", {"bm_lewis", "bm_george"}}, VoiceAlias{"cedar", {"bm_george", "am_adam"}},
    VoiceAlias{"coral", {"af_sarah", "af_bella"}},   VoiceAlias{"echo", {"am_echo", "am_adam"}},
    VoiceAlias{"fable", {"bm_fable", "bm_george"}},  VoiceAlias{"marin", {"bf_emma", "af_bella"}},
    VoiceAlias{"nova", {"af_nova", "af_bella"}},     VoiceAlias{"onyx", {"am_onyx", "am_adam"}},
    VoiceAlias{"sage", {"af_nicole", "af_heart"}},   VoiceAlias{"shimmer", {"af_sky", "af_bella"}},
    VoiceAlias{"verse", {"am_fenrir", "am_adam"}},
};

// The model's voice behind an alias; empty: `name` is no alias, or none of its voices is there.
std::optional<std::string> voice_of_alias(std::string_view name, const std::vector<std::string>& voices);

// Bodies of GET /v1/models, /v1/models/{id} and /v1/audio/voices.
std::string models_json();
std::optional<std::string> model_json(std::string_view id);
std::string voices_json(const std::vector<std::string>& voices);

}  // namespace headroom::serve
