// Normalising rules for feet and inches, as words (5 ft 10 in) and as marks (5'10", a 27" monitor).
#include <algorithm>
#include <iterator>

#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

std::optional<std::string> inches(const Match& m) {  // "2in", "a 15-in screen"
  if (m.after_char() == '-') return std::nullopt;    // "1-in-5"
  const bool one = is_one(m.g(1)) || m.g(0).find('-') != std::string_view::npos;
  return decimal(m.g(1), m.style) + (one ? " inch" : " inches");
}

std::optional<std::string> feet_inches(const Match& m) {  // "6ft 2in", "5 ft 10 in"
  return cardinal(m.g(1), m.style) + (is_one(m.g(1)) ? " foot " : " feet ") + cardinal(m.g(2), m.style) +
         (is_one(m.g(2)) ? " inch" : " inches");
}

std::optional<std::string> height(const Match& m) {  // 6'2"
  return cardinal(m.g(1), m.style) + " foot " + cardinal(m.g(2), m.style);
}

std::optional<std::string> feet_before(const Match& m) {  // 6' tall
  return std::string(m.g(1)) + (is_one(m.g(1)) ? " foot" : " feet") + std::string(m.g(2));
}

std::optional<std::string> feet_after(const Match& m) {  // 3' x 5'
  if (alnum(m.after_char())) return std::nullopt;
  return std::string(m.g(1)) + " " + std::string(m.g(2)) + " feet";
}

// A quotation mark that closes nothing. Quotations are looked for in the last few hundred bytes only, so that
// the time stays linear.
bool quote_is_open(std::string_view before) {
  constexpr std::size_t kWindow = 400;
  const std::string_view near = before.substr(before.size() - std::min(before.size(), kWindow));
  const auto opened = near.rfind("“");
  if (opened == std::string_view::npos) return false;
  const auto closed = near.rfind("”");
  return closed == std::string_view::npos || closed < opened;
}

// `27" monitors` are twenty seven inch monitors; `27" wide` is twenty seven inches.
bool names_a_thing(std::string_view after) {
  static constexpr std::string_view kOthers[] = {
      "wide", "long",  "tall", "high", "deep",   "thick", "x",     "by",   "of",    "in",
      "and",  "or",    "from", "at",   "to",     "off",   "apart", "last", "this",  "the",
      "a",    "per",   "is",   "are",  "was",    "above", "on",    "for",  "with",  "below",
      "over", "under", "too",  "more", "longer", "short", "less",  "away", "across"};
  if (after.size() < 2 || after[0] != ' ' || !letter(after[1])) return false;
  std::size_t end = 1;
  while (end < after.size() && letter(after[end])) ++end;
  return std::find(std::begin(kOthers), std::end(kOthers), after.substr(1, end - 1)) == std::end(kOthers);
}

std::optional<std::string> inch_mark(const Match& m) {  // 27", 3/4", 2 1/2"
  if (m.before_char() == '\'' || quote_is_open(m.before)) return std::nullopt;
  const bool below_one = m.g(1).empty() && m.g(2).find('/') != std::string_view::npos;
  const bool one = m.g(0) == "1”" || below_one || names_a_thing(m.after);
  const std::string whole = m.g(1).empty() ? "" : std::string(m.g(1).substr(0, m.g(1).size() - 1)) + " ";
  if (m.g(0) == "3/4”") return std::string("three quarter inch");
  return whole + std::string(m.g(2)) + (one ? " inch" : " inches");
}

std::optional<std::string> inch_range(const Match& m) {  // 3-5" of snow
  if (quote_is_open(m.before)) return std::nullopt;
  return decimal(m.g(1), m.style) + " to " + decimal(m.g(2), m.style) + " inches";
}

}  // namespace

void add_lengths(std::vector<Rule>& out) {
  using K = NormaliseKind;
  const std::string num = std::string("(") + kNum + ")";
  out.push_back(
      {K::kUnit, R"(\b(\d+) ?(?:ft|feet|foot)\.? ?(\d{1,2}) ?(?:in|inch|inches)\b\.?)", feet_inches});
  out.push_back({K::kUnit, "\\b" + num + "-?in\\b", inches});
  out.push_back({K::kUnit, R"(\b([1-9])' ?(\d{1,2})(?:[”“]|''|\b))", height});
  out.push_back({K::kUnit, R"(\b([1-9]\d)' ?(\d{1,2})(?:”|''))", height});
  out.push_back({K::kUnit, R"(\b(x|by) ([2-9]|\d{2,3})')", feet_after});
  out.push_back({K::kUnit, R"(\b(\d{1,3})'( (?:tall|wide|long|high|deep|x|by)\b))", feet_before});
  out.push_back({K::kUnit | K::kRange, "\\b" + num + " ?[-–] ?" + num + "”", inch_range});
  out.push_back({K::kUnit, R"(\b(\d+[ -])?(\d+/\d+|)" + std::string(kNum) + ")”", inch_mark});
}

}  // namespace headroom::text::rules
