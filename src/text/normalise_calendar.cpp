// Normalising rules for dates, times of day and decades.
#include <algorithm>

#include "text/calendar_names.hpp"
#include "text/normalise_rules.hpp"

namespace headroom::text::rules {
namespace {

// One group; the short forms with or without their dot.
const std::string kMonthPattern =
    "(" + any_of_names(kMonths) + R"(|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?))";

int number(std::string_view digits) {
  int n = 0;
  for (const char c : digits) n = n * 10 + (c - '0');
  return n;
}

std::string month_name(std::string_view written) {
  return std::string(name_of(kMonths, written).value_or(written));
}

bool is_day(int month, int day, std::string_view year_digits) {
  return day >= 1 && day <= days_in_month(month, year_digits);
}

int month_number(std::string_view written) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (kMonths[i].substr(0, 3) == written.substr(0, 3)) return static_cast<int>(i) + 1;
  }
  return 0;
}

// "Feb 30" is no day: the month is named and the numbers stay numbers.
std::string month_named(const Match& m, std::string_view month) {
  const std::string_view all = m.g(0);
  const auto at = static_cast<std::size_t>(month.data() - all.data());
  return std::string(all.substr(0, at)) + month_name(month) + std::string(all.substr(at + month.size()));
}

std::string full_year(std::string_view digits, NumberStyle style) {
  if (digits.size() == 4) return year(digits, style);
  return year((number(digits) < 70 ? "20" : "19") + std::string(digits), style);
}

// The words of a day that exists, or an empty optional: 31/02/2024 is left to the rules for numbers.
std::optional<std::string> date_words(int month, int day, std::string_view year_digits, const Match& m) {
  if (!is_day(month, day, year_digits)) return std::nullopt;
  const std::string name(kMonths[static_cast<std::size_t>(month - 1)]);
  const std::string nth = ordinal(std::to_string(day), m.style);
  std::string out = m.style.british ? "the " + nth + " of " + name : name + " " + nth;
  if (!year_digits.empty()) out += ", " + full_year(year_digits, m.style);
  return out;
}

std::optional<std::string> iso_date(const Match& m) {
  auto out = date_words(number(m.g(2)), number(m.g(3)), m.g(1), m);
  if (out && !m.g(4).empty())
    *out += ", " + std::string(m.g(4)) + ":" + std::string(m.g(5));  // the time rule reads it
  return out;
}

std::optional<std::string> slash_date(const Match& m) {
  if (digit(m.after_char()) || m.after_char() == '/') return std::nullopt;
  int month = number(m.g(1));
  int day = number(m.g(2));
  // Dots and dashes are European; slashes follow the country. The impossible order gives way.
  const bool dotted = m.g(0).find('/') == std::string_view::npos;
  if (m.style.british || dotted) std::swap(month, day);
  if (month > 12 && day <= 12) std::swap(month, day);
  return date_words(month, day, m.g(3), m);
}

std::optional<std::string> short_slash_date(const Match& m) {  // "on 12/05"
  auto words = date_words(number(m.g(m.style.british ? 3 : 2)), number(m.g(m.style.british ? 2 : 3)), {}, m);
  if (!words)
    words = date_words(number(m.g(m.style.british ? 2 : 3)), number(m.g(m.style.british ? 3 : 2)), {}, m);
  if (!words || digit(m.after_char()) || m.after_char() == '/') return std::nullopt;
  return std::string(m.g(1)) + " " + *words;
}

std::optional<std::string> month_day(const Match& m) {  // "May 5th, 2024", "Jan. 5-7"
  if (alnum(m.after_char())) return std::nullopt;
  const int month = month_number(m.g(1));
  if (!is_day(month, number(m.g(2)), m.g(4)) || (!m.g(3).empty() && !is_day(month, number(m.g(3)), m.g(4))))
    return month_named(m, m.g(1));
  std::string out = month_name(m.g(1)) + " " + ordinal(m.g(2), m.style);
  if (!m.g(3).empty()) out += " to " + ordinal(m.g(3), m.style);
  if (!m.g(4).empty()) out += ", " + year(m.g(4), m.style);
  return out;
}

std::optional<std::string> day_month(const Match& m) {  // "5 May 2024", "5th of May"
  if (alnum(m.after_char())) return std::nullopt;
  if (!is_day(month_number(m.g(2)), number(m.g(1)), m.g(3))) return month_named(m, m.g(2));
  const bool has_the = last_word(m.before) == "the" || last_word(m.before) == "The";
  std::string out = (has_the ? "" : "the ") + ordinal(m.g(1), m.style) + " of " + month_name(m.g(2));
  if (!m.g(3).empty()) out += ", " + year(m.g(3), m.style);
  return out;
}

std::optional<std::string> month_year(const Match& m) {
  return month_name(m.g(1)) + " " + year(m.g(2), m.style);
}

std::optional<std::string> decades(const Match& m) {  // "the 1960s-70s"
  return plural(year(m.g(1), m.style)) + " to " + plural(cardinal(m.g(2), m.style));
}

std::optional<std::string> short_year(const Match& m) {  // "since '09"
  return std::string(m.g(1)) + (m.g(2)[0] == '0' ? "oh " : "") + cardinal(m.g(2), m.style);
}

std::optional<std::string> month_range(const Match& m) {  // "Jan-Feb"
  return month_name(m.g(1)) + " to " + month_name(m.g(2));
}

std::optional<std::string> verse(const Match& m) {  // "Psalm 23:4", "John 3:16-17"
  return std::string(m.g(1)) + " " + cardinal(m.g(2), m.style) + " " + cardinal(m.g(3), m.style) +
         (m.g(4).empty() ? "" : " to " + cardinal(m.g(4), m.style));
}

std::optional<std::string> decade(const Match& m) {  // "1990s"
  const std::string digits(m.g(1));
  return plural(year(digits, m.style));
}

// "'90s", "the 80s", "mid-80s", "the upper 70s"; "30s" alone is thirty seconds.
std::optional<std::string> short_decade(const Match& m) {
  if (m.g(2) == "00") return std::string(m.g(1)) + "two thousands";
  return std::string(m.g(1)) + plural(cardinal(m.g(2), m.style));
}

std::optional<std::string> decade_of_things(const Match& m) {  // "80s music"
  return plural(cardinal(m.g(1), m.style)) + std::string(m.g(2));
}

// "the sixties, 70s and 80s": what stands in a row with a decade is one.
std::optional<std::string> decades_in_a_row(const Match& m) {
  std::string out(m.g(1));
  const std::string_view row = m.g(2);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!digit(row[i])) {
      out.push_back(row[i]);
      continue;
    }
    out += plural(cardinal(row.substr(i, 2), m.style));
    i += 2;  // the other digit and the s
  }
  return out;
}

std::string half_of_day(std::string_view letter_of_half, std::string_view dots, const Match& m) {
  std::string out = letter_of_half == "a" || letter_of_half == "A" ? " A.M" : " P.M";
  // "9 p.m." at the end of a sentence: its dot was the sentence's too.
  if (!dots.empty() && sentence_ends_here(m.after)) out += ".";
  return out;
}

std::optional<std::string> clock(const Match& m) {  // "9:30PM", "14:05", "09:00:30"
  if (m.before_char() == ':' || m.before_char() == '.' || m.after_char() == ':' || digit(m.after_char()))
    return std::nullopt;
  const int hour = number(m.g(1));
  const bool half = !m.g(4).empty();
  std::string out = cardinal(m.g(1), m.style);
  if (number(m.g(2)) == 0) {
    const std::string_view next = m.after.substr(0, 5);
    const bool named = next == " noon" || next == " midn";
    if (!half && !named && m.g(3).empty()) out += hour >= 1 && hour <= 12 ? " o'clock" : " hundred";
  } else {
    out += (m.g(2)[0] == '0' ? " oh " : " ") + cardinal(m.g(2), m.style);
  }
  if (!m.g(3).empty())
    out += " and " + cardinal(m.g(3), m.style) + (number(m.g(3)) == 1 ? " second" : " seconds");
  if (half) out += half_of_day(m.g(4), m.g(5), m);
  return out;
}

std::optional<std::string> dotted_clock(const Match& m) {  // "8.30pm", but not "£8.30 am"
  const auto before = static_cast<unsigned char>(m.before_char());
  if (before == '$' || before >= 0x80) return std::nullopt;
  return clock(m);
}

std::optional<std::string> offset_from_utc(const Match& m) {  // "GMT-5"
  return std::string(m.g(1)) + " minus " + std::string(m.g(2));
}

std::optional<std::string> hour_only(const Match& m) {  // "9 am", "9pm"
  return cardinal(m.g(1), m.style) + half_of_day(m.g(2), m.g(3), m);
}

// "5-6pm", "10:00-11:30 a.m.": both ends are times, the half is said once.
std::optional<std::string> half_range(const Match& m) {
  if (m.before_char() == '-' || m.before_char() == ':' || m.before_char() == '.') return std::nullopt;
  std::string from(m.g(1));
  std::replace(from.begin(), from.end(), '.', ':');  // "8.30-9.30pm": the end has its half, the start has not
  return from + " to " + std::string(m.g(2));
}

std::optional<std::string> hours_minutes(const Match& m) {  // "1h 30m", "1h30"
  return cardinal(m.g(1), m.style) + (is_one(m.g(1)) ? " hour " : " hours ") + cardinal(m.g(2), m.style) +
         (is_one(m.g(2)) ? " minute" : " minutes");
}

std::string era_year_words(std::string_view digits, const Match& m) {
  return digits.size() == 4 ? year(digits, m.style) : cardinal(digits, m.style);
}

std::optional<std::string> era(const Match& m) {  // "1066 AD"
  return era_year_words(m.g(1), m) + " " + join_initials(m.g(2));
}

std::optional<std::string> era_range(const Match& m) {  // "300-200 BC"
  return era_year_words(m.g(1), m) + " to " + era_year_words(m.g(2), m) + " " + join_initials(m.g(3));
}

std::optional<std::string> date_range(const Match& m) {  // "Sept 5-Oct 3"
  return std::string(m.g(1)) + " to " + std::string(m.groups[3]);
}

std::optional<std::string> time_range(const Match& m) { return std::string(m.g(1)) + " to "; }

std::string_view weekday(std::string_view written) { return name_of(kWeekdays, written).value_or(written); }

std::optional<std::string> weekdays(const Match& m) {  // "Mon-Fri"
  return std::string(weekday(m.g(1))) + " to " + std::string(weekday(m.g(2)));
}

std::optional<std::string> weekday_of_date(const Match& m) {  // "Mon, Jan 6th", "Sat 3 May", "Sat 10am"
  return std::string(weekday(m.g(1))) + std::string(m.g(2)) + std::string(m.g(3));
}

std::optional<std::string> half_alone(const Match& m) {  // "in the a.m."
  std::string out = m.g(1) == "a" || m.g(1) == "A" ? "A.M" : "P.M";
  if (sentence_ends_here(m.after)) out += ".";
  return out;
}

}  // namespace

void add_calendar(std::vector<Rule>& out) {
  using K = NormaliseKind;
  const std::string nth = R"(\d{1,2}(?:st|nd|rd|th)?)";
  out.push_back({K::kDate,
                 R"(\b(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)\b\.?(,? )()" + kMonthPattern + " " + nth +
                     "\\b|" + nth + " (?:of )?" + kMonthPattern +
                     R"(|\d{1,2}(?:[:.]\d\d)? ?[AaPp]\.?[Mm]\b))",
                 weekday_of_date});
  out.push_back({K::kDate | K::kRange,
                 "\\b(" + kMonthPattern + " " + nth + ") ?[-–] ?(" + kMonthPattern + " " + nth + "\\b)",
                 date_range});
  out.push_back({K::kDate,
                 R"(\b(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?Z?)?\b)",
                 iso_date});
  out.push_back({K::kDate, R"(\b(\d{1,2})/(\d{1,2})/(\d{4}|\d{2})\b)", slash_date});
  out.push_back({K::kDate, R"(\b(\d{1,2})[.\-](\d{1,2})[.\-](\d{4})\b)", slash_date});
  out.push_back({K::kDate, R"(\b([Oo]n|[Bb]y|[Uu]ntil|[Ss]ince) (\d{1,2})/(\d{1,2})\b)", short_slash_date});
  out.push_back(
      {K::kDate,
       "\\b" + kMonthPattern +
           R"( (\d{1,2})(?:st|nd|rd|th)?\b(?: ?[-–] ?(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (\d{4})\b)?)",
       month_day});
  out.push_back({K::kDate, R"(\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?)" + kMonthPattern + R"((?:,? (\d{4})\b)?)",
                 day_month});
  out.push_back({K::kDate, "\\b" + kMonthPattern + R"(,? (\d{4})\b)", month_year});
  out.push_back({K::kDate | K::kRange, R"(\b((?:1[0-9]|20)\d0)s ?[-–] ?'?([2-9]0)s\b)", decades});
  out.push_back({K::kDate, R"(\b((?:1[0-9]|20)\d0)'?s\b)", decade});
  out.push_back({K::kDate, R"('()(00|[2-9]0)'?s\b)", short_decade});
  out.push_back({K::kDate, R"(()\b([2-9]0)'s\b)", short_decade});
  out.push_back({K::kDate, R"((^|[ (])'(\d\d)\b)", short_year});
  out.push_back({K::kDate | K::kRange, "\\b" + kMonthPattern + " ?[-–] ?" + kMonthPattern, month_range});
  out.push_back(
      {K::kDate,
       R"(\b((?i:the|mid|early|late|my|his|her|our|their|your|upper|lower|low|high|roaring|swinging)[ -](?:(?i:early|late|mid)[ -])?)(00|[2-9]0)'?s\b)",
       short_decade});
  // The words of the second kind may be a command after a time: "wait 30s pop the lid".
  out.push_back({K::kDate, R"(\b([2-9]0)s( (?:music|movies?|films?|kids?|style|fashions?|sitcoms?)\b))",
                 decade_of_things});
  out.push_back({K::kDate, R"(\b([5-9]0)s( (?:rock|pop|hits?|shows?|night|party|song|songs|throwback)\b))",
                 decade_of_things});
  out.push_back(
      {K::kDate,
       R"(\b((?:twen|thir|for|fif|six|seven|eigh|nine)ties)((?:(?:,| and| or| to|, and|, or) (?:the |early |mid-|late )*'?[2-9]0s\b)+))",
       decades_in_a_row});
  out.push_back(
      {K::kTime,
       R"(\b(Psalms?|Proverbs|Genesis|Exodus|Isaiah|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Revelation|Hebrews) (\d{1,3}):(\d{1,3})\b(?:[-–](\d{1,3})\b)?)",
       verse});
  out.push_back({K::kDate | K::kRange, R"(\b(\d{1,4}) ?[-–] ?(\d{1,4}) (AD|BC|CE|BCE)\b)", era_range});
  out.push_back({K::kDate, R"(\b(\d{3,4}) (AD|BC|CE|BCE)\b)", era});
  out.push_back(
      {K::kTime | K::kRange,
       R"(\b(\d{1,2}(?:[:.][0-5]\d)?)(?: ?[-–] ?| to )(\d{1,2}(?:[:.][0-5]\d)? ?[AaPp](?:[Mm]\b|\. ?[Mm]\b)))",
       half_range});
  out.push_back({K::kTime | K::kRange, R"(\b(\d{1,2}:[0-5]\d) ?[-–] ?(\d{1,2}:[0-5]\d)\b)", half_range});
  out.push_back({K::kTime, R"(\b(\d{1,2}) ?h ?([0-5]?\d)(?: ?m| ?min)?\b)", hours_minutes});
  out.push_back({K::kTime,
                 R"(\b([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?: ?([AaPp])(?:[Mm]\b|\. ?[Mm]\b(\.?))|\b))",
                 clock});
  out.push_back(
      {K::kTime, R"(\b([01]?\d|2[0-3])\.([0-5]\d)() ?([AaPp])(?:[Mm]\b|\. ?[Mm]\b(\.?)))", dotted_clock});
  out.push_back({K::kTime, R"(\b(UTC|GMT) ?-(\d{1,2}(?::\d\d)?)\b)", offset_from_utc});
  out.push_back({K::kTime, R"(\b(1[0-2]|0?[1-9]) ?([AaPp])(?:[Mm]\b|\. ?[Mm]\b(\.?)))", hour_only});
  const std::string day = R"(\b(Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)(?:nesday|rsday|sday|urday|day)?\b\.?)";
  out.push_back({K::kDate, day + " ?[-–] ?" + day, weekdays});
  out.push_back({K::kTime, R"(\b([AP]\.M|A\.D|B\.C(?:\.E)?|C\.E) ?[-–] ?\b)", time_range});
  out.push_back({K::kTime, R"(\b([AaPp])\. ?[Mm]\.)", half_alone});
}

}  // namespace headroom::text::rules
