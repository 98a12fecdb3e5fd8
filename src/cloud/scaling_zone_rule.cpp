// Reading a rule, and the changes around a time.
#include "cloud/scaling_zone_rule.hpp"

#include <chrono>

namespace headroom::cloud {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// Takes the text piece by piece; false or nullopt where the piece is another.
class ZoneRuleReader {
 public:
  explicit ZoneRuleReader(std::string_view text) : rest_(text) {}

  std::optional<ZoneRule> read() {
    ZoneRule rule;
    const bool named = name();
    const auto standard = named ? time(24) : std::nullopt;
    if (!standard) return std::nullopt;
    rule.standard_s_ = rule.summer_s_ = -*standard;
    if (rest_.empty()) return rule;
    rule.changes_ = true;
    if (!name()) return std::nullopt;
    rule.summer_s_ = rule.standard_s_ + 3600;
    if (!rest_.empty() && rest_.front() != ',') {
      const auto summer = time(24);
      if (!summer) return std::nullopt;
      rule.summer_s_ = -*summer;
    }
    const bool whole = day(rule.to_summer_) && day(rule.to_standard_) && rest_.empty();
    return whole ? std::optional(rule) : std::nullopt;
  }

 private:
  using Day = ZoneRule::Day;

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<int> number(int low, int high) {
    int value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && digits < 3 && is_digit(rest_[digits]); ++digits)
      value = value * 10 + (rest_[digits] - '0');
    if (digits == 0 || value < low || value > high) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

  // Three letters or more, or anything alphanumeric with signs between < and >.
  bool name() {
    const bool quoted = take('<');
    std::size_t size = 0;
    while (size < rest_.size() &&
           (is_letter(rest_[size]) ||
            (quoted && (is_digit(rest_[size]) || rest_[size] == '+' || rest_[size] == '-'))))
      ++size;
    rest_.remove_prefix(size);
    return size >= 3 && (!quoted || take('>'));
  }

  // [+-]hh[:mm[:ss]]
  std::optional<int> time(int most_hours) {
    const bool negative = take('-');
    if (!negative) take('+');
    const auto hours = number(0, most_hours);
    if (!hours) return std::nullopt;
    int seconds = *hours * 3600;
    for (int unit = 60; unit > 0 && take(':'); unit /= 60) {
      const auto part = number(0, 59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return negative ? -seconds : seconds;
  }

  bool month_week_day(Day& out) {
    out.form = Day::Form::kMonthWeekDay;
    const auto month = number(1, 12);
    const auto week = month && take('.') ? number(1, 5) : std::nullopt;
    const auto weekday = week && take('.') ? number(0, 6) : std::nullopt;
    if (!weekday) return false;
    out.month = *month;
    out.week = *week;
    out.day = *weekday;
    return true;
  }

  bool day_of_year(Day& out) {
    const bool julian = take('J');
    out.form = julian ? Day::Form::kJulian : Day::Form::kDayOfYear;
    const auto day = number(julian ? 1 : 0, 365);
    out.day = day.value_or(0);
    return day.has_value();
  }

  // ,DAY[/time]
  bool day(Day& out) {
    if (!take(',')) return false;
    if (!(take('M') ? month_week_day(out) : day_of_year(out))) return false;
    if (!take('/')) return true;
    const auto at = time(167);
    out.time_s = at.value_or(0);
    return at.has_value();
  }

  std::string_view rest_;
};

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) { return ZoneRuleReader(text).read(); }

std::int64_t ZoneRule::begin_of(const Day& day, int year) {
  using namespace std::chrono;
  const std::chrono::year of{year};
  sys_days date = of / January / 1;
  if (day.form == Day::Form::kMonthWeekDay) {
    const auto month = of / static_cast<unsigned>(day.month);
    const weekday wanted(static_cast<unsigned>(day.day));
    date = day.week == 5 ? sys_days(month / wanted[last])
                         : sys_days(month / wanted[static_cast<unsigned>(day.week)]);
  } else if (day.form == Day::Form::kDayOfYear) {
    date += days{day.day};
  } else {  // 1 to 365; the 29th of February is not counted
    date += days{day.day - (of.is_leap() && day.day >= 60 ? 0 : 1)};
  }
  return duration_cast<seconds>(date.time_since_epoch()).count() + day.time_s;
}

// The last change before the time decides, whichever half of the world it is in. A summer that begins when
// the former one ends lasts all year.
int ZoneRule::offset_s(std::int64_t utc_s) const {
  if (!changes_) return standard_s_;
  using namespace std::chrono;
  const year_month_day date(floor<days>(sys_seconds(seconds(utc_s))));
  const int year = static_cast<int>(date.year());
  std::int64_t last = INT64_MIN;
  int offset = standard_s_;
  for (int y = year - 2; y <= year + 1; ++y) {
    const std::int64_t standard = begin_of(to_standard_, y) - summer_s_;
    const std::int64_t summer = begin_of(to_summer_, y) - standard_s_;
    if (standard <= utc_s && standard > last) {
      last = standard;
      offset = standard_s_;
    }
    if (summer <= utc_s && summer >= last) {
      last = summer;
      offset = summer_s_;
    }
  }
  return offset;
}

}  // namespace headroom::cloud
