// Internal to text: the form of a normalising rule, and the groups of rules. Not for other modules.
//
// A rule is a pattern and a function that turns a match into words, or into nothing (then the text stays as
// it is). Rules run in the order of the list, each once over the whole text, left to right, without overlap.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/abbreviations.hpp"
#include "text/normalise.hpp"
#include "text/numbers.hpp"

namespace headroom::text::rules {

struct Match {
  std::span<const std::string_view> groups;  // [0] is the whole; a group that took no part is empty
  std::string_view before;                   // all text before the match
  std::string_view after;                    // all text after it
  NumberStyle style;

  std::string_view g(std::size_t i) const { return groups[i]; }
  char before_char() const { return before.empty() ? '\0' : before.back(); }
  char after_char() const { return after.empty() ? '\0' : after.front(); }
};

using Expand = std::optional<std::string> (*)(const Match&);

struct Rule {
  NormaliseKind kind;
  std::string pattern;
  Expand expand;
};

void add_web(std::vector<Rule>& out);       // e-mail, URLs, file names
void add_calendar(std::vector<Rule>& out);  // dates, times, decades
void add_money(std::vector<Rule>& out);
void add_codes(std::vector<Rule>& out);    // phone numbers, versions, long codes
void add_lengths(std::vector<Rule>& out);  // feet and inches, before the fractions of quantities
void add_fractions(std::vector<Rule>& out);
void add_arithmetic(std::vector<Rule>& out);  // powers, sums
void add_ordinals(std::vector<Rule>& out);
void add_quantities(std::vector<Rule>& out);  // units, ranges, years, plain numbers
void add_abbreviations(std::vector<Rule>& out);
void add_symbols(std::vector<Rule>& out);

// Small helpers shared by the groups.
inline constexpr const char* kNum = R"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)";
inline bool digit(char c) { return c >= '0' && c <= '9'; }
inline bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool alnum(char c) { return digit(c) || letter(c); }
bool is_one(std::string_view number);  // exactly "1"
std::string_view last_word(
    std::string_view before);            // the word at the end of `before`, without the space after it
bool describes_a_thing(const Match& m);  // "a $5 bill", "a 60 W bulb": one thing of that worth or size
std::string_view joint(const Match& m);  // between the ends of a range: "to", after "between" it is "and"
std::string unit_words(std::string_view sign, std::string_view amount);  // "km", "2" -> "kilometers"
bool looks_like_year(std::string_view digits);
int days_in_month(int month, std::string_view year_digits);  // 0: no month; without a year February has 29
std::string join_initials(std::string_view letters);         // "pm" -> "P.M": spelled by english.hpp

}  // namespace headroom::text::rules
