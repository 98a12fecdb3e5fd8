// Normalising rules for quantities: units, ranges, years and plain numbers.
#include <algorithm>
#include <array>
#include <iterator>

#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

struct Unit {
  std::string_view sign;
  std::string_view one;
  std::string_view many;
};
// American spelling; both lexicons know it.
constexpr Unit kUnits[] = {{"km/h", "kilometer per hour", "kilometers per hour"},
                           {"kph", "kilometer per hour", "kilometers per hour"},
                           {"mph", "mile per hour", "miles per hour"},
                           {"m/s", "meter per second", "meters per second"},
                           {"km²", "square kilometer", "square kilometers"},
                           {"m²", "square meter", "square meters"},
                           {"cm²", "square centimeter", "square centimeters"},
                           {"m³", "cubic meter", "cubic meters"},
                           {"km", "kilometer", "kilometers"},
                           {"cm", "centimeter", "centimeters"},
                           {"mm", "millimeter", "millimeters"},
                           {"nm", "nanometer", "nanometers"},
                           {"μm", "micrometer", "micrometers"},
                           {"m", "meter", "meters"},
                           {"m/s²", "meter per second squared", "meters per second squared"},
                           {"sq ft", "square foot", "square feet"},
                           {"sq m", "square meter", "square meters"},
                           {"sq km", "square kilometer", "square kilometers"},
                           {"ft²", "square foot", "square feet"},
                           {"mi²", "square mile", "square miles"},
                           {"cm³", "cubic centimeter", "cubic centimeters"},
                           {"mi", "mile", "miles"},
                           {"ft", "foot", "feet"},
                           {"gal", "gallon", "gallons"},
                           {"fl oz", "fluid ounce", "fluid ounces"},
                           {"tbsp", "tablespoon", "tablespoons"},
                           {"tsp", "teaspoon", "teaspoons"},
                           {"yrs", "year", "years"},
                           {"yr", "year", "years"},
                           {"wks", "week", "weeks"},
                           {"GB/s", "gigabyte per second", "gigabytes per second"},
                           {"MB/s", "megabyte per second", "megabytes per second"},
                           {"kJ", "kilojoule", "kilojoules"},
                           {"Wh", "watt hour", "watt hours"},
                           {"MWh", "megawatt hour", "megawatt hours"},
                           {"GW", "gigawatt", "gigawatts"},
                           {"Pa", "pascal", "pascals"},
                           {"bpm", "beat per minute", "beats per minute"},
                           {"tokens/s", "token per second", "tokens per second"},
                           {"yds", "yard", "yards"},
                           {"yd", "yard", "yards"},
                           {"pts", "point", "points"},
                           {"bps", "basis point", "basis points"},
                           {"mpg", "mile per gallon", "miles per gallon"},
                           {"mmHg", "millimeter of mercury", "millimeters of mercury"},
                           {"sq mi", "square mile", "square miles"},
                           {"sq yd", "square yard", "square yards"},
                           {"sq in", "square inch", "square inches"},
                           {"kg", "kilogram", "kilograms"},
                           {"mg", "milligram", "milligrams"},
                           {"μg", "microgram", "micrograms"},
                           {"g", "gram", "grams"},
                           {"lbs", "pound", "pounds"},
                           {"lb", "pound", "pounds"},
                           {"oz", "ounce", "ounces"},
                           {"ml", "milliliter", "milliliters"},
                           {"mL", "milliliter", "milliliters"},
                           {"cl", "centiliter", "centiliters"},
                           {"l", "liter", "liters"},
                           {"L", "liter", "liters"},
                           {"TB", "terabyte", "terabytes"},
                           {"GB", "gigabyte", "gigabytes"},
                           {"MB", "megabyte", "megabytes"},
                           {"KB", "kilobyte", "kilobytes"},
                           {"kB", "kilobyte", "kilobytes"},
                           {"GiB", "gibibyte", "gibibytes"},
                           {"MiB", "mebibyte", "mebibytes"},
                           {"Gbps", "gigabit per second", "gigabits per second"},
                           {"Mb", "megabit", "megabits"},
                           {"Gb", "gigabit", "gigabits"},
                           {"Mbps", "megabit per second", "megabits per second"},
                           {"kbps", "kilobit per second", "kilobits per second"},
                           {"GHz", "gigahertz", "gigahertz"},
                           {"MHz", "megahertz", "megahertz"},
                           {"kHz", "kilohertz", "kilohertz"},
                           {"Hz", "hertz", "hertz"},
                           {"ms", "millisecond", "milliseconds"},
                           {"μs", "microsecond", "microseconds"},
                           {"ns", "nanosecond", "nanoseconds"},
                           {"secs", "second", "seconds"},
                           {"sec", "second", "seconds"},
                           {"s", "second", "seconds"},
                           {"mins", "minute", "minutes"},
                           {"min", "minute", "minutes"},
                           {"hrs", "hour", "hours"},
                           {"hr", "hour", "hours"},
                           {"h", "hour", "hours"},
                           {"°C", "degree Celsius", "degrees Celsius"},
                           {"°F", "degree Fahrenheit", "degrees Fahrenheit"},
                           {"°", "degree", "degrees"},
                           {"C", "degree Celsius", "degrees Celsius"},
                           {"F", "degree Fahrenheit", "degrees Fahrenheit"},
                           {"kWh", "kilowatt hour", "kilowatt hours"},
                           {"MW", "megawatt", "megawatts"},
                           {"kW", "kilowatt", "kilowatts"},
                           {"W", "watt", "watts"},
                           {"kV", "kilovolt", "kilovolts"},
                           {"V", "volt", "volts"},
                           {"mAh", "milliamp hour", "milliamp hours"},
                           {"mA", "milliamp", "milliamps"},
                           {"dB", "decibel", "decibels"},
                           {"fps", "frame per second", "frames per second"},
                           {"rps", "request per second", "requests per second"},
                           {"rpm", "revolution per minute", "revolutions per minute"},
                           {"px", "pixel", "pixels"},
                           {"%", "percent", "percent"},
                           {"pct", "percent", "percent"},
                           {"ppm", "part per million", "parts per million"},
                           {"kcal", "kilocalorie", "kilocalories"},
                           {"kPa", "kilopascal", "kilopascals"},
                           {"hPa", "hectopascal", "hectopascals"},
                           {"psi", "P.S.I", "P.S.I"},
                           {"Ω", "ohm", "ohms"},
                           {"ha", "hectare", "hectares"}};

std::string unit_pattern() {
  std::vector<std::string_view> signs;
  for (const auto& u : kUnits) signs.push_back(u.sign);
  std::stable_sort(signs.begin(), signs.end(), [](auto a, auto b) { return a.size() > b.size(); });
  std::string out;
  for (const auto s : signs) {
    if (!out.empty()) out += "|";
    out += s;
  }
  return "(" + out + ")";
}

// A dash before a number is a minus only where no word or number ends.
bool is_minus(const Match& m) {
  const char c = m.before_char();
  return c == '\0' || c == ' ' || c == '\n' || c == '(' || c == '=' || c == '/' || c == '+' || c == '*' ||
         c == '<' || c == '>';
}

std::string signed_words(std::string_view dash, std::string_view number, const Match& m) {
  if (dash.empty()) return decimal(number, m.style);
  return (is_minus(m) ? "minus " : " ") + decimal(number, m.style);
}

bool unit_ends(const Match& m) {
  const auto c = static_cast<unsigned char>(m.after_char());
  return !alnum(m.after_char()) && c < 0x80 && m.after_char() != '_';
}

std::optional<std::string> unit(const Match& m) {
  const bool dashed = m.g(0)[m.g(0).size() - m.g(3).size() - 1] == '-';  // "10-min", but not "section 5-C"
  const bool named = !m.g(1).empty() && letter(m.before_char());         // "B-52s"
  if (!unit_ends(m) || ((dashed || named) && m.g(3).size() == 1)) return std::nullopt;
  const bool glued = m.g(0).size() == m.g(1).size() + 1 + m.g(3).size();  // "Apartment 4C"
  if (glued && m.g(1).empty() && (m.g(3) == "C" || m.g(3) == "F")) return std::nullopt;
  const bool one = dashed || (describes_a_thing(m) && m.after.substr(0, 4) != " of ");
  return signed_words(m.g(1), m.g(2), m) + " " +
         unit_words(m.g(3), one              ? "1"
                            : m.g(1).empty() ? m.g(2)
                                             : "2");
}

std::string dotted_unit_words(std::string_view sign, std::string_view amount, const Match& m) {
  std::string out = sign == "in" ? (is_one(amount) ? "inch" : "inches") : unit_words(sign, amount);
  if (sentence_ends_here(m.after)) out += ".";
  return out;
}

// "5 ft. 10 in.": abbreviations whose dot is not the sentence's.
std::optional<std::string> dotted_unit(const Match& m) {
  if (m.g(0)[m.g(1).size()] == '-')  // "a 5-yr. plan"
    return decimal(m.g(1), m.style) + " " + (m.g(2) == "in" ? "inch" : unit_words(m.g(2), "1"));
  return decimal(m.g(1), m.style) + " " + dotted_unit_words(m.g(2), m.g(1), m);
}

std::optional<std::string> dotted_unit_range(const Match& m) {  // "25-30 min."
  return decimal(m.g(1), m.style).append(joint(m)) + decimal(m.g(2), m.style) + " " +
         dotted_unit_words(m.g(3), "2", m);
}

std::optional<std::string> square_unit(const Match& m) {  // "1,500 sq. ft."
  return decimal(m.g(1), m.style) + " " + unit_words("sq " + std::string(m.g(2)), m.g(1)) +
         (m.g(0).back() == '.' && sentence_ends_here(m.after) ? "." : "");
}

std::optional<std::string> unit_per_unit(const Match& m) {  // "60 km/hr", "5 kg/m³"
  if (!unit_ends(m)) return std::nullopt;
  return signed_words(m.g(1), m.g(2), m) + " " + unit_words(m.g(3), m.g(2)) + " per " +
         unit_words(m.g(4), "1");
}

std::optional<std::string> so_often(const Match& m) {  // "3x/week"
  return cardinal(m.g(1), m.style) + " times" + std::string(m.g(2));
}

std::optional<std::string> unit_range(const Match& m) {
  if (!unit_ends(m)) return std::nullopt;
  return signed_words(m.g(1), m.g(2), m).append(joint(m)) + (m.g(3).empty() ? "" : "minus ") +
         decimal(m.g(4), m.style) + " " + unit_words(m.g(5), "2");
}

std::optional<std::string> range(const Match& m) {
  if (m.before_char() == '-' || m.before_char() == '.' || m.after_char() == '-' || letter(m.before_char()))
    return std::nullopt;
  if (looks_like_year(m.g(1)) && (looks_like_year(m.g(2)) || m.g(2).size() == 2)) {
    return year(m.g(1), m.style) + " to " +
           (m.g(2).size() == 2 ? cardinal(m.g(2), m.style) : year(m.g(2), m.style));
  }
  // "747-400" is a name: ranges rise.
  const bool whole = m.g(0).find_first_of(".,") == std::string_view::npos;
  if (whole && m.g(1).size() < 10 && m.g(2).size() < 10 &&
      std::stol(std::string(m.g(1))) > std::stol(std::string(m.g(2))))
    return decimal(m.g(1), m.style) + " " + decimal(m.g(2), m.style);
  if (m.g(1) == m.g(2)) return decimal(m.g(1), m.style) + " " + decimal(m.g(2), m.style);  // "50-50", "1-1"
  return decimal(m.g(1), m.style).append(joint(m)) + decimal(m.g(2), m.style);
}

std::optional<std::string> by_size(const Match& m) {
  const auto side = [&](std::string_view n) {  // screens: "nineteen twenty by ten eighty"
    return n.size() == 4 && n.find('.') == std::string_view::npos ? year(n, m.style) : decimal(n, m.style);
  };
  return side(m.g(1)) + " by " + side(m.g(2));
}

// Whether the word before a slash counts something: "requests/second", "one dollar/month", but not
// "first/second" or "night/day".
bool is_counted(std::string_view word, std::string_view before) {
  static constexpr std::string_view kCounted[] = {
      "percent", "feet",     "yen",     "won",   "pence", "hundred", "thousand", "million",
      "billion", "trillion", "once",    "twice", "hertz", "people",  "price",    "cost",
      "rate",    "fee",      "revenue", "Price", "Cost",  "Rate",    "Fee",      "Revenue"};
  if (word.empty()) return false;
  if (digit(word[0])) return digit(word.back()) || word.size() < 3 || !letter(word[word.size() - 2]);
  if (std::find(std::begin(kCounted), std::end(kCounted), word) != std::end(kCounted)) return true;
  const std::string_view number = last_word(before.substr(0, before.size() - word.size()));
  if (number == "one" || number == "a" || number == "per") return true;
  const bool plural = word.size() > 3 && word.back() == 's' && word[word.size() - 2] != 's';
  return plural && word != "this" && word != "This";
}

std::optional<std::string> per(const Match& m) {  // "5 dollars/month"
  if (m.before_char() != '%' && !(alnum(m.before_char()) && is_counted(last_word(m.before), m.before)))
    return std::nullopt;
  const bool month = m.g(1) == "mo";
  const std::string words = month ? "month" : m.g(1) == "wk" ? "week" : unit_words(m.g(1), "1");
  const bool sentence_goes_on = words != m.g(1) && !sentence_ends_here(m.after);  // "$5/mo. at first"
  return " per " + words + (sentence_goes_on ? "" : std::string(m.g(2)));
}

std::optional<std::string> plural_name(const Match& m) {  // "B-52s"
  return std::string(m.g(1)) + " " + plural(cardinal(m.g(2), m.style));
}

std::string magnitude_words(std::string_view sign) {
  if (sign == "M" || sign == "mn") return " million";
  if (sign == "bn" || sign == "tn") return sign == "bn" ? " billion" : " trillion";
  return sign.empty() ? "" : " " + std::string(sign);
}

std::optional<std::string> million(const Match& m) {  // "82M parameters"
  if (upper(m.before_char()) || m.before_char() == '-') return std::nullopt;
  return decimal(m.g(1), m.style) + magnitude_words(m.g(2));
}

std::optional<std::string> magnitude_range(const Match& m) {  // "5-10M users", "3-5x", "2-3k"
  if (letter(m.before_char()) || m.before_char() == '-' || m.before_char() == '.') return std::nullopt;
  const std::string_view first = m.g(2) == m.g(4) ? std::string_view{} : m.g(2);
  return decimal(m.g(1), m.style).append(magnitude_words(first)).append(joint(m)) + decimal(m.g(3), m.style) +
         magnitude_words(m.g(4));
}

std::optional<std::string> sized_unit(const Match& m) {  // "4x100m"
  return decimal(m.g(1), m.style) + " by " + decimal(m.g(2), m.style) + " " + unit_words(m.g(3), "2");
}

std::optional<std::string> sized(const Match& m) {  // "5 m x 3 m"
  return std::string(m.g(1)) + " by " + std::string(m.g(2));
}

std::optional<std::string> spaced_thousands(const Match& m) {  // "1 000 000"
  if (digit(m.before_char()) || digit(m.after_char())) return std::nullopt;
  std::string digits;
  for (const char c : m.g(0)) {
    if (digit(c)) digits.push_back(c);
  }
  return cardinal(digits, m.style);
}

std::optional<std::string> ratio(const Match& m) {  // "3:2", what the times left over
  if (m.before_char() == ':' || m.after_char() == ':') return std::nullopt;
  return cardinal(m.g(1), m.style) + " to " + cardinal(m.g(2), m.style);
}

std::optional<std::string> era_year(const Match& m) {  // "in 1066"
  return std::string(m.g(1)) + " " + year(m.g(2), m.style);
}

std::optional<std::string> plain_number(const Match& m) {
  const std::string_view dash = m.g(1);
  const std::string_view number = m.g(2);
  const bool glued_dash = !dash.empty() && !is_minus(m);
  const bool bare = number.find_first_of(".,") == std::string_view::npos;
  if (bare && looks_like_year(number) && (dash.empty() || glued_dash)) {
    return (glued_dash ? " " : "") + year(number, m.style);
  }
  // Long runs without separators are codes.
  if (bare && number.size() > 9 && number.substr(number.size() - 3) != "000") return spell_digits(number);
  return signed_words(dash, number, m);
}

}  // namespace

std::string unit_words(std::string_view sign, std::string_view amount) {
  for (const auto& u : kUnits) {
    if (u.sign == sign) return std::string(is_one(amount) ? u.one : u.many);
  }
  return std::string(sign);
}

bool looks_like_year(std::string_view d) {
  return d.size() == 4 && ((d[0] == '1' && d[1] >= '5') || d.substr(0, 2) == "20");
}

void add_quantities(std::vector<Rule>& out) {
  using K = NormaliseKind;
  const std::string num = std::string("(") + kNum + ")";
  const std::string units = unit_pattern();
  out.push_back(
      {K::kUnit,
       "\\b(" + std::string(kNum) + R"( ?(?:mm|cm|km|m|ft|in|yd|inch|inches|feet)) ?[xX×] ?(\d+(?:\.\d+)?))",
       sized});
  out.push_back({K::kNumber, R"(\b([A-Z])-(\d{1,3})s\b)", plural_name});
  out.push_back({K::kNumber | K::kRange,
                 "\\b" + num + "(M|mn|bn|tn|k|K|x)? ?[-–] ?" + num + "(M|mn|bn|tn|k|K|x)\\b",
                 magnitude_range});
  out.push_back({K::kNumber, "\\b" + num + "(M|mn|bn|tn)\\b", million});
  const std::string dotted =
      "[ -]?(ft|in|lbs?|oz|yds?|pts|pct|mins?|secs?|hrs?|mi|yrs?|gal|tbsp|tsp|kg|cm|mm|km)\\.";
  out.push_back({K::kUnit | K::kRange, "\\b" + num + " ?[-–] ?" + num + dotted, dotted_unit_range});
  out.push_back({K::kUnit, "\\b" + num + dotted, dotted_unit});
  out.push_back({K::kNumber, R"(\b\d{1,3}(?: 000)+\b)", spaced_thousands});
  out.push_back({K::kNumber, R"(\b(\d{1,4}):(\d{1,4})\b)", ratio});
  out.push_back({K::kUnit | K::kRange,
                 "(-)?\\b" + num + "(?: ?°[CF]?|%)? ?(?:-|–|—|to) ?(-)?" + num + " ?" + units, unit_range});
  out.push_back({K::kUnit, "\\b" + num + R"( ?sq\. ?(ft|mi|yd|in|km|m)\b\.?)", square_unit});
  out.push_back({K::kUnit, "(-)?\\b" + num + " ?" + units + "/" + units, unit_per_unit});
  out.push_back({K::kUnit, "\\b" + num + " ?[xX×] ?" + num + " ?(mm|cm|km|m|ft|yd)\\b", sized_unit});
  out.push_back({K::kUnit, R"(\b(\d{1,3})x(/| a | per ))", so_often});
  out.push_back({K::kUnit, "(-)?\\b" + num + "[ -]?" + units, unit});
  out.push_back(
      {K::kUnit,
       R"(/(month|mo|year|yr|week|wk|day|hour|hr|minute|min|second|sec|person|user|night|head|seat|kg|lb|oz|gal|ml|mL|L|GB|TB|kWh|mile|mi)\b(\.?))",
       per});
  out.push_back({K::kNumber, "\\b" + num + " ?[xX×] ?" + num + "\\b", by_size});
  out.push_back({K::kRange, "\\b" + num + " ?[-–] ?" + num + "\\b", range});
  out.push_back(
      {K::kNumber,
       R"(\b([Ii]n|[Ss]ince|[Ff]rom|[Uu]ntil|[Bb]efore|[Aa]fter|[Yy]ear|[Aa]round|[Cc]irca) (1\d{3})\b)",
       era_year});
  out.push_back({K::kNumber, R"(\b([Yy]ear) ([12]\d{3})\b)", era_year});
  out.push_back({K::kNumber, "(-)?(" + std::string(kNum) + R"(|\.\d+))", plain_number});
}

}  // namespace headroom::text::rules
