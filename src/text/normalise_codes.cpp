// Normalising rules for numbers that are names: phone numbers, versions, addresses of machines, codes with
// dashes.
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

// Groups of digits, read one by one with a short pause between groups; "800" stays "eight hundred".
std::string grouped(std::string_view written) {
  std::string out;
  std::string group;
  const auto flush = [&] {
    if (group.empty()) return;
    if (!out.empty()) out += ", ";
    out += group == "800" ? "eight hundred" : spell_digits(group);
    group.clear();
  };
  for (const char c : written) {
    if (digit(c)) {
      group.push_back(c);
    } else {
      flush();
    }
  }
  flush();
  return out;
}

bool touches_number(const Match& m) {
  return digit(m.before_char()) || digit(m.after_char()) || m.before_char() == '.' ||
         m.before_char() == ',' || m.before_char() == '-' ||
         ((m.after_char() == '-' || m.after_char() == '.') && m.after.size() > 1 && digit(m.after[1]));
}

std::optional<std::string> phone(const Match& m) {
  if (touches_number(m)) return std::nullopt;
  return (m.g(0)[0] == '+' ? "plus " : "") + grouped(m.g(0));
}

// "+44 20 7946 0958", "+14155550123"; "+125.30 points" and "+10000 users" are numbers.
std::optional<std::string> international_phone(const Match& m) {
  std::size_t digits = 0;
  std::size_t dots = 0;
  std::size_t others = 0;
  for (const char c : m.g(0).substr(1)) ++(digit(c) ? digits : c == '.' ? dots : others);
  const bool grouped_digits = others > 0 || dots > 1;
  constexpr std::size_t kFewest = 7;
  constexpr std::size_t kFewestUngrouped = 10;  // as E.164 writes it
  if (digits < (grouped_digits ? kFewest : kFewestUngrouped) || (dots == 1 && !grouped_digits))
    return std::nullopt;
  return phone(m);
}

std::optional<std::string> local_phone(const Match& m) {
  if (touches_number(m) || m.g(1).back() == '0') return std::nullopt;  // "100-1000" is a range
  return grouped(m.g(0));
}

std::optional<std::string> dashed_code(const Match& m) {
  if (touches_number(m)) return std::nullopt;
  return grouped(m.g(0));
}

std::optional<std::string> named_code(const Match& m) {  // "zip code is 90210"
  if (touches_number(m)) return std::nullopt;
  return std::string(m.g(1)) + " " + spell_digits(m.g(2));
}

std::optional<std::string> emergency(const Match& m) {  // "call 911"
  return std::string(m.g(1)) + " " + spell_digits(m.g(2));
}

std::optional<std::string> emergency_call(const Match& m) {  // "a 911 call"
  return spell_digits(m.g(1)) + std::string(m.g(2));
}

std::optional<std::string> zip_code(const Match& m) {  // "Washington, DC 20500"
  std::string out = std::string(m.g(1)) + spell_digits(m.g(2));
  if (!m.g(3).empty()) out += ", " + spell_digits(m.g(3));
  return out;
}

std::optional<std::string> extension(const Match& m) {  // "888-555-0100 x23"
  return std::string(m.g(1)) + ", extension " + spell_digits(m.g(2));
}

std::string in_pairs(std::string_view n, NumberStyle style) {  // 101: "one oh one", 747: "seven forty seven"
  if (n.size() == 3 && n.substr(1) != "00") {
    return cardinal(n.substr(0, 1), style) + (n[1] == '0' ? " oh " : " ") + cardinal(n.substr(1), style);
  }
  if (n.size() == 4 && n.substr(1) != "000" && n[0] != '0') return year(n, style);
  return n[0] == '0' ? spell_digits(n) : cardinal(n, style);
}

std::optional<std::string> numbered_place(const Match& m) {  // "Room 101", "Boeing 747-400"
  if (alnum(m.after_char()) ||
      ((m.after_char() == '.' || m.after_char() == ',') && m.after.size() > 1 && digit(m.after[1])))
    return std::nullopt;
  std::string out = std::string(m.g(1)) + " " + in_pairs(m.g(2), m.style);
  if (!m.g(3).empty()) out += " " + in_pairs(m.g(3), m.style);
  return out;
}

std::optional<std::string> picture_lines(const Match& m) {  // "1080p"
  return in_pairs(m.g(1), m.style) + " " + join_initials(m.g(2));
}

std::optional<std::string> hexadecimal(const Match& m) {  // "0x1F": "zero x one F"
  std::string out = "zero x";
  bool after_letter = false;
  for (const char c : m.g(1)) {
    if (digit(c)) {
      out.append(" ").append(spell_digits({&c, 1}));
    } else {
      out.append(after_letter ? "." : " ").append(join_initials({&c, 1}));
    }
    after_letter = letter(c);
  }
  return out;
}

std::optional<std::string> version(const Match& m) {
  std::string_view rest = m.g(2);
  std::size_t dots = 0;
  for (const char c : rest) dots += c == '.' ? 1 : 0;
  const bool machine = dots == 3 && m.g(1).empty();
  if (dots == 2 && m.g(1).empty() &&
      rest.size() > 8) {  // "1.000.000": thousands, as much of Europe writes them
    const auto first = rest.find('.');
    if (first <= 3 && rest.size() == first + 8 && rest[first + 4] == '.') {
      std::string digits;
      for (const char c : rest) {
        if (digit(c)) digits.push_back(c);
      }
      return cardinal(digits, m.style);
    }
  }
  std::string out = m.g(1).empty() ? "" : "version";
  while (!rest.empty()) {
    const auto dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    if (!out.empty()) out += " ";
    out += (machine && part.size() > 2) || part.size() > 4 || (part.size() > 1 && part[0] == '0')
               ? spell_digits(part)
               : cardinal(part, m.style);
    if (dot == std::string_view::npos) break;
    out += machine ? " dot" : " point";
    rest.remove_prefix(dot + 1);
  }
  return out;
}

}  // namespace

void add_codes(std::vector<Rule>& out) {
  using K = NormaliseKind;
  out.push_back({K::kPhone, R"(([.-]\d{4}),? ?x ?(\d{1,5})\b)", extension});
  out.push_back({K::kPhone, R"((, [A-Z]{2} )(\d{5})(?:-(\d{4}))?\b)", zip_code});
  out.push_back({K::kPhone, R"((?:\+?\b1[ .\-]?)?(?:\(\d{3}\) ?|\b\d{3}[ .\-])\d{3}[ .\-]\d{4}\b)", phone});
  out.push_back({K::kPhone, R"(\+\d{1,3}(?: ?\(0\))?(?:[ .\-]?\(?\d{2,4}\)?){2,5}\b)", international_phone});
  out.push_back({K::kPhone, R"(\b0\d{2,4}[ \-]\d{3,4}[ \-]?\d{3,4}\b)", phone});
  out.push_back({K::kPhone, R"(\b(\d{3})-\d{4}\b)", local_phone});
  out.push_back({K::kPhone, R"(\b\d+(?:-\d+){2,}\b)", dashed_code});
  out.push_back({K::kPhone, R"(\b\d{4}(?: \d{4}){2,4}\b)", dashed_code});
  out.push_back({K::kPhone, R"(\b([Cc]all|[Dd]ial|[Rr]ing) (911|999|112|101|111|988|411|311)\b)", emergency});
  out.push_back({K::kPhone, R"(\b(911|999|112)( (?:calls?|dispatchers?|operators?)\b))", emergency_call});
  out.push_back(
      {K::kNumber,
       R"(\b(Room|Flight|Highway|Route|Boeing|Airbus|Interstate|Suite|Apartment|Apt|Unit|Studio|Gate|Bus|Channel) ([1-9]\d{2,3})(?:-(\d{3,4}))?\b)",
       numbered_place});
  out.push_back(
      {K::kPhone,
       R"(\b((?:[Zz]ip|[Cc]ode|PIN|[Ee]xtension|[Ff]light|[Pp]asscode|[Pp]assword|[Cc]onfirmation|[Aa]ccount|[Oo]rder|[Rr]eference)(?: (?:code|number|no|is|was))*:?) (\d{4,})\b)",
       named_code});
  out.push_back({K::kNumber, R"(\b(240|360|480|720|1080|1440|2160)([pi])\b)", picture_lines});
  out.push_back({K::kNumber, R"(\b0[xX]([0-9A-Fa-f]+)\b)", hexadecimal});
  out.push_back({K::kVersion, R"(\b([vV]?)(\d+(?:\.\d+){2,})\b)", version});
  // "V8" is an engine.
  out.push_back({K::kVersion, R"(\b(v)(\d+(?:\.\d+)*)\b)", version});
  out.push_back({K::kVersion, R"(\b(V)(\d+(?:\.\d+)+)\b)", version});
}

}  // namespace headroom::text::rules
