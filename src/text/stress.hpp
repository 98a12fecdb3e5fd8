// Stress marks and endings on phoneme strings, as the model's training data has them.
//
// Internal to text; pure, safe from any thread, no errors. Source: how misaki's lexicons mark stress (a mark
// stands directly before its vowel) and the sounds of -s, -ed and -ing in English.
#pragma once

#include <string>
#include <string_view>

namespace headroom::text {

inline constexpr std::string_view kPrimary = "ˈ";
inline constexpr std::string_view kSecondary = "ˌ";

bool has_primary(std::string_view phonemes);
bool is_vowel(char32_t phoneme);
std::string demote(std::string_view phonemes);  // primary becomes secondary, secondary goes
std::string with_stress_if_none(std::string_view phonemes, std::string_view mark);  // before the first vowel
std::string promote(std::string_view phonemes);  // the word carries a primary stress afterwards
int stress_weight(std::string_view phonemes);    // long sounds count two

std::string plural_sound(std::string_view stem, bool british);  // "" for an empty stem
std::string past_sound(std::string_view stem, bool british);
std::string ing_sound(std::string_view stem, bool british);

}  // namespace headroom::text
