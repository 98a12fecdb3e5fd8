// English number words; see numbers.hpp.
#include "text/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace headroom::text {
namespace {

constexpr std::array<std::string_view, 20> kOnes{"zero",    "one",     "two",       "three",    "four",
                                                 "five",    "six",     "seven",     "eight",    "nine",
                                                 "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                                 "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 6> kGroups{"",         " thousand", " million",
                                                  " billion", " trillion", " quadrillion"};
constexpr std::size_t kLongest = 18;  // digits that are still read as one number

bool all_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string below_hundred(std::uint64_t n) {
  if (n < 20) return std::string(kOnes[n]);
  std::string out(kTens[n / 10]);
  if (n % 10 != 0) out.append(" ").append(kOnes[n % 10]);
  return out;
}

std::string below_thousand(std::uint64_t n, bool british) {
  if (n < 100) return below_hundred(n);
  std::string out = std::string(kOnes[n / 100]) + " hundred";
  if (n % 100 != 0) out += (british ? " and " : " ") + below_hundred(n % 100);
  return out;
}

std::uint64_t value(std::string_view digits) {
  std::uint64_t n = 0;
  for (const char c : digits) n = n * 10 + static_cast<std::uint64_t>(c - '0');
  return n;
}

std::string_view without_leading_zeros(std::string_view digits) {
  const auto at = digits.find_first_not_of('0');
  return at == std::string_view::npos ? digits.substr(digits.size() - 1) : digits.substr(at);
}

}  // namespace

std::string spell_digits(std::string_view digits) {
  std::string out;
  out.reserve(digits.size() * 6);
  for (const char c : digits) {
    if (c < '0' || c > '9') continue;
    if (!out.empty()) out.push_back(' ');
    out += kOnes[static_cast<std::size_t>(c - '0')];
  }
  return out;
}

std::string cardinal(std::string_view digits, NumberStyle style) {
  if (!all_digits(digits)) return {};
  digits = without_leading_zeros(digits);
  if (digits.size() > kLongest) return spell_digits(digits);
  std::uint64_t n = value(digits);
  if (n == 0) return "zero";
  std::string out;
  for (std::size_t group = kGroups.size(); group-- > 0;) {
    std::uint64_t unit = 1;
    for (std::size_t i = 0; i < group; ++i) unit *= 1000;
    const std::uint64_t part = n / unit;
    n %= unit;
    if (part == 0) continue;
    // "one thousand and five" in British English
    const bool bare_and = style.british && group == 0 && part < 100 && !out.empty();
    if (!out.empty()) out += bare_and ? " and " : " ";
    out += below_thousand(part, style.british);
    out += kGroups[group];
  }
  return out;
}

std::string ordinal(std::string_view digits, NumberStyle style) {
  std::string words = cardinal(digits, style);
  const auto at = words.rfind(' ');
  const std::size_t from = at == std::string::npos ? 0 : at + 1;
  const std::string last = words.substr(from);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kIrregular{{{"one", "first"},
                                                                                     {"two", "second"},
                                                                                     {"three", "third"},
                                                                                     {"five", "fifth"},
                                                                                     {"eight", "eighth"},
                                                                                     {"nine", "ninth"},
                                                                                     {"twelve", "twelfth"}}};
  std::string changed;
  for (const auto& [word, form] : kIrregular) {
    if (last == word) changed = form;
  }
  if (changed.empty() && !last.empty()) {
    changed = last.back() == 'y' ? last.substr(0, last.size() - 1) + "ieth" : last + "th";
  }
  return words.substr(0, from) + changed;
}

std::string year(std::string_view d, NumberStyle style) {
  if (!all_digits(d)) return {};
  if (d.size() != 4 || d[0] == '0') return cardinal(d, style);
  const std::uint64_t high = value(d.substr(0, 2));
  const std::uint64_t low = value(d.substr(2));
  if (d[1] == '0' && low < 10) return cardinal(d, style);  // 2000, 2005: "two thousand five"
  const std::string first = below_hundred(high);
  if (low == 0) return first + " hundred";
  return first + (low < 10 ? " oh " : " ") + below_hundred(low);
}

std::string decimal(std::string_view number, NumberStyle style) {
  std::string out;
  if (!number.empty() && number[0] == '-') {
    out = "minus ";
    number.remove_prefix(1);
  }
  std::string whole;
  const auto dot = number.find('.');
  for (const char c : number.substr(0, dot)) {
    if (c >= '0' && c <= '9') whole.push_back(c);
  }
  // "007" is a code, not a quantity.
  const bool code = whole.size() > 1 && whole[0] == '0' && dot == std::string_view::npos;
  if (!whole.empty()) out += code ? spell_digits(whole) : cardinal(whole, style);
  if (dot != std::string_view::npos && dot + 1 < number.size()) {
    if (!whole.empty()) out += " ";
    out += "point " + spell_digits(number.substr(dot + 1));
  }
  return out;
}

std::string plural(std::string_view word) {
  std::string out(word);
  if (out.empty()) return out;
  if (out.back() == 'y') {
    out.replace(out.size() - 1, 1, "ies");
  } else if (out.back() == 'x' || out.back() == 's') {
    out += "es";
  } else {
    out += "s";
  }
  return out;
}

int roman_value(std::string_view letters) {
  // Each place in order, so that only well-formed numerals have a value: IIX and CIVIL have none.
  constexpr std::array<std::array<std::string_view, 10>, 3> kPlaces{
      {{"", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"},
       {"", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"},
       {"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"}}};
  int value = 0;
  while (value < 3 && !letters.empty() && letters.front() == 'M') {
    ++value;
    letters.remove_prefix(1);
  }
  for (const auto& place : kPlaces) {
    std::size_t best = 0;  // the longest form that stands here
    for (std::size_t i = 1; i < place.size(); ++i) {
      if (place[i].size() > place[best].size() && letters.substr(0, place[i].size()) == place[i]) best = i;
    }
    letters.remove_prefix(place[best].size());
    value = value * 10 + static_cast<int>(best);
  }
  return letters.empty() ? value : 0;
}

}  // namespace headroom::text
