// From espeak-ng's IPA (tied with '^') to the alphabet Kokoro was trained on.
//
// Pure, safe from any thread, no errors. Symbols the model lacks may remain; Vocab::keep_known drops and
// counts them. Source of the pairs: the model's vocabulary and misaki's description of its phonemes
// (diphthongs are one capital letter, affricates one ligature, the American flap is T, syllabic consonants
// take a raised schwa).
#pragma once

#include <string>
#include <string_view>

namespace headroom::text {

std::string english_from_ipa(std::string_view ipa, bool british);
std::string foreign_from_ipa(std::string_view ipa);

}  // namespace headroom::text
