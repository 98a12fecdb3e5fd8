// Numbers as English words: cardinals, ordinals, years, digits one by one.
//
// Input is digits as text, so that length is no limit: beyond 10^18 a number is read digit by digit. British
// English says "and" after hundred. Pure functions, safe from any thread, no errors; input other than digits
// gives "".
#pragma once

#include <string>
#include <string_view>

namespace headroom::text {

struct NumberStyle {
  bool british = false;  // "one hundred and five"
};

std::string cardinal(std::string_view digits, NumberStyle style = {});   // "105" -> "one hundred five"
std::string ordinal(std::string_view digits, NumberStyle style = {});    // "21" -> "twenty first"
std::string year(std::string_view four_digits, NumberStyle style = {});  // "1905" -> "nineteen oh five"
std::string spell_digits(std::string_view digits);                       // "007" -> "zero zero seven"
// "3.14" -> "three point one four"; commas are thousands separators; a leading '-' is "minus".
std::string decimal(std::string_view number, NumberStyle style = {});
std::string plural(std::string_view word);  // of a number word: "twenty" -> "twenties", "six" -> "sixes"
int roman_value(std::string_view letters);  // 1..3999; 0 if it is not well formed

}  // namespace headroom::text
