// Normalising rules for fractions: 3/4, 2 1/2, ½, parts of units (1/2 tsp), and the days and seasons written
// like them.

#include "text/calendar_names.hpp"
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

std::string fraction_words(std::string_view over, std::string_view under, NumberStyle style) {
  const bool one = is_one(over);
  if (under == "2") return cardinal(over, style) + (one ? " half" : " halves");
  if (under == "4") return cardinal(over, style) + (one ? " quarter" : " quarters");
  return cardinal(over, style) + " " + ordinal(under, style) + (one ? "" : "s");
}

int small(std::string_view d) { return d.size() > 4 ? 10000 : (d.empty() ? 0 : std::stoi(std::string(d))); }

std::optional<std::string> mixed_fraction(const Match& m) {  // "2 1/2"
  if (small(m.g(2)) >= small(m.g(3)) || small(m.g(3)) < 2) return std::nullopt;
  if (m.g(2) == "1" && m.g(3) == "2") return cardinal(m.g(1), m.style) + " and a half";
  return cardinal(m.g(1), m.style) + " and " + fraction_words(m.g(2), m.g(3), m.style);
}

std::optional<std::string> fraction_ending(const Match& m) {  // "2/3rds"
  if (small(m.g(2)) < 3) return std::nullopt;
  return fraction_words(m.g(1), m.g(2), m.style);
}

std::optional<std::string> out_of(const Match& m) {  // "6.5/10"
  const bool goes_on = m.after_char() == '.' && m.after.size() > 1 && digit(m.after[1]);
  if (goes_on || m.before_char() == '.' || m.before_char() == '/' || m.after_char() == '/')
    return std::nullopt;
  return decimal(m.g(1), m.style) + " out of " + cardinal(m.g(2), m.style);
}

std::optional<std::string> blood_pressure(const Match& m) {  // "120/80 mmHg"
  return cardinal(m.g(1), m.style) + " over " + cardinal(m.g(2), m.style) + " " + unit_words("mmHg", m.g(2));
}

std::optional<std::string> fraction(const Match& m) {
  if (m.before_char() == '/' || m.after_char() == '/' || m.before_char() == '.') return std::nullopt;
  const int over = small(m.g(1));
  const int under = small(m.g(2));
  if (m.g(0) == "24/7") return std::string("twenty four seven");
  if (m.g(0) == "20/20") return std::string("twenty twenty");
  if (looks_like_year(m.g(1)) && m.g(2).size() == 2 && (over + 1) % 100 == under)  // "the 2023/24 season"
    return year(m.g(1), m.style) + " " + (under < 10 ? "oh " : "") + cardinal(m.g(2), m.style);
  if (m.g(0) == "9/11") return std::string("nine eleven");
  if (over + under == 100)
    return cardinal(m.g(1), m.style) + " " + cardinal(m.g(2), m.style);  // "50/50", "80/20"
  const std::string_view next = m.after.substr(0, 7);
  if (over == under || next == " stars" || next == " stars." || next == " points") {
    return cardinal(m.g(1), m.style) + " out of " + cardinal(m.g(2), m.style);
  }
  if (over >= 1 && over < under &&
      (under <= 10 || under == 12 || under == 16 || under == 20 || under == 32 || under == 100)) {
    return fraction_words(m.g(1), m.g(2), m.style);
  }
  // "12/25" is a day when one of its numbers can only be one.
  const int month = m.style.british ? under : over;
  const int day = m.style.british ? over : under;
  if (day > 12 && day <= days_in_month(month, {}) && m.g(1)[0] != '0') {
    const std::string name(kMonths[static_cast<std::size_t>(month - 1)]);
    const std::string nth = ordinal(std::to_string(day), m.style);
    return m.style.british ? "the " + nth + " of " + name : name + " " + nth;
  }
  return cardinal(m.g(1), m.style) + " over " + cardinal(m.g(2), m.style);
}

struct Vulgar {
  std::string_view sign;
  std::string_view over;
  std::string_view under;
};
constexpr Vulgar kVulgar[] = {{"½", "1", "2"}, {"¼", "1", "4"}, {"¾", "3", "4"}, {"⅓", "1", "3"},
                              {"⅔", "2", "3"}, {"⅛", "1", "8"}, {"⅜", "3", "8"}, {"⅝", "5", "8"},
                              {"⅞", "7", "8"}, {"⅕", "1", "5"}};

std::optional<std::string> part_of_unit(const Match& m) {  // "1/2 tsp.", "2½ lbs", "3/4 mi"
  if (m.after_char() == '/') return std::nullopt;
  const std::string number = std::string(m.g(1)) + std::string(m.g(2));
  const std::string stop = !m.g(4).empty() && sentence_ends_here(m.after) ? "." : "";
  if (!m.g(1).empty()) return number + " " + unit_words(m.g(3), "2") + stop;
  const std::string one = unit_words(m.g(3), "1");
  const bool single =
      m.g(2)[0] == '1' || m.g(2) == "½" || m.g(2) == "¼" || m.g(2) == "⅓" || m.g(2) == "⅛" || m.g(2) == "⅕";
  return number + (single ? " " : m.g(3) == "oz" ? " of an " : " of a ") + one + stop;
}

std::optional<std::string> vulgar_fraction(const Match& m) {
  for (const auto& v : kVulgar) {
    if (v.sign != m.g(2)) continue;
    if (m.g(1).empty()) return v.sign == "½" ? "one half" : fraction_words(v.over, v.under, m.style);
    const std::string part = v.sign == "½" ? "a half" : fraction_words(v.over, v.under, m.style);
    return cardinal(m.g(1), m.style) + " and " + part;
  }
  return std::nullopt;
}

}  // namespace

void add_fractions(std::vector<Rule>& out) {
  using K = NormaliseKind;
  out.push_back(
      {K::kUnit,
       R"((\b\d{1,3} ?)?(\b\d{1,2}/\d{1,2}|½|¼|¾|⅓|⅔|⅛|⅜|⅝|⅞|⅕) ?(tsp|tbsp|lbs?|oz|mi|km|kg|ft|yd|gal|hrs?|mins?|secs?|yrs?|cm|mm)\b(\.?))",
       part_of_unit});
  out.push_back({K::kNumber, R"(\b(\d+) (\d{1,3})/(\d{1,3})\b)", mixed_fraction});
  out.push_back({K::kNumber, R"((?:\b(\d+) ?)?(½|¼|¾|⅓|⅔|⅛|⅜|⅝|⅞|⅕))", vulgar_fraction});
  out.push_back({K::kNumber, R"(\b(\d{1,2})/(\d{1,2})(?:rds?|ths?|nds?|sts?)\b)", fraction_ending});
  out.push_back({K::kNumber, R"(\b(\d+\.\d+)/(5|10|100)\b)", out_of});
  out.push_back({K::kUnit, R"(\b(\d{2,3})/(\d{2,3}) ?mmHg\b)", blood_pressure});
  out.push_back({K::kNumber, R"(\b(\d{1,4})/(\d{1,4})\b)", fraction});
}

}  // namespace headroom::text::rules
