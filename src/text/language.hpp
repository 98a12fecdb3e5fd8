// Languages the speech model was trained on, and how a request names them.
//
// Pure and immutable. Errors: kUnsupported, context unsupported_language, naming the language and those
// offered. Source: the first letter of a Kokoro voice name is its language (a b e f h i j p z).
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace headroom::text {

enum class Language { kAmerican, kBritish, kSpanish, kFrench, kHindi, kItalian, kPortuguese };

// "en-us", "en", "a", "en-gb", "es", "fr-fr", "pt-br" ...; case and '_' for '-' do not matter.
base::Result<Language> parse_language(std::string_view name);
// "af_heart" -> American English. Japanese and Mandarin voices exist in the model but are refused here.
base::Result<Language> language_of_voice(std::string_view voice);
std::string_view language_name(Language language);  // "en-us"
bool is_english(Language language);

}  // namespace headroom::text
