// Normalising rules for ordinals, and for what is written like one: the stone of British weights.
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

std::optional<std::string> ordinal_range(const Match& m) {  // "1st-3rd grade"
  return ordinal(m.g(1), m.style).append(joint(m)) + ordinal(m.g(2), m.style);
}

bool fits(std::string_view suffix, std::string_view digits) {
  const char last = digits.back();
  const bool teen = digits.size() > 1 && digits[digits.size() - 2] == '1';
  return suffix == (teen ? "th" : last == '1' ? "st" : last == '2' ? "nd" : last == '3' ? "rd" : "th");
}

std::optional<std::string> stone(const Match& m) {  // "11st 5lb"
  if (!m.style.british && fits("st", m.g(1))) return std::nullopt;
  return cardinal(m.g(1), m.style) + " stone " + cardinal(m.g(2), m.style) +
         (is_one(m.g(2)) ? " pound" : " pounds");
}

std::optional<std::string> ordinal_number(const Match& m) {
  std::string digits;
  for (const char c : m.g(1)) {
    if (digit(c)) digits.push_back(c);
  }
  if (m.style.british && m.g(2) == "st" && !fits(m.g(2), digits)) return cardinal(digits, m.style) + " stone";
  const std::string words = ordinal(digits, m.style);
  return m.before_char() == '-' ? " " + words : words;
}

std::optional<std::string> decimal_ordinal(const Match& m) {  // "the 99.9th percentile"
  const std::string_view part = m.g(2);
  const std::string before_last = part.size() > 1 ? spell_digits(part.substr(0, part.size() - 1)) + " " : "";
  return cardinal(m.g(1), m.style) + " point " + before_last + ordinal(part.substr(part.size() - 1), m.style);
}

}  // namespace

void add_ordinals(std::vector<Rule>& out) {
  using K = NormaliseKind;
  out.push_back({K::kOrdinal | K::kRange, R"(\b(\d{1,3})(?:st|nd|rd|th) ?[-–] ?(\d{1,3})(?:st|nd|rd|th)\b)",
                 ordinal_range});
  out.push_back({K::kOrdinal, R"(\b(\d+)\.(\d+)th\b)", decimal_ordinal});
  out.push_back({K::kUnit, R"(\b(\d{1,2}) ?st,? ?(\d{1,2}) ?lbs?\b)", stone});
  out.push_back({K::kOrdinal, R"(\b(\d{1,3}(?:,\d{3})+|\d+)(st|nd|rd|th)\b)", ordinal_number});
}

}  // namespace headroom::text::rules
