// Parsing schedules and walking days.
#include "capacity/schedule_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

namespace headroom::capacity {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr int kSearchDays = 8 * 366;
constexpr std::array<std::string_view, 12> kMonths{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                   "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> kWeekdays{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct Civil {
  int year, month, day;
};

// Days since 1970-01-01 and back: Howard Hinnant, "chrono-compatible low-level date algorithms".
std::int64_t days_of(int y, int m, int d) {
  y -= m <= 2 ? 1 : 0;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t yoe = y - era * 400, doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146'097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719'468;
}

Civil civil_of(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097, doe = days - era * 146'097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const int m = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {static_cast<int>(yoe + era * 400 + (m <= 2 ? 1 : 0)), m,
          static_cast<int>(doy - (153 * mp + 2) / 5 + 1)};
}

int month_length(int year, int month) {
  const int next_year = month == 12 ? year + 1 : year, next_month = month == 12 ? 1 : month + 1;
  return static_cast<int>(days_of(next_year, next_month, 1) - days_of(year, month, 1));
}

tl::unexpected<base::Error> fault(const std::string& message) {
  return base::fail(base::ErrorCode::kInvalidArgument, message);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    if (end > begin || separator != ' ') out.push_back(text.substr(begin, end - begin));
  }
  if (begin < text.size() || separator != ' ') out.push_back(text.substr(begin));
  return out;
}

struct Field {
  const char* name;
  int low, high;
};

std::optional<int> value_of(const std::string& text, const Field& field) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (field.high == 12 && text == kMonths[i]) return static_cast<int>(i) + 1;
  }
  for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
    if (field.high == 7 && text == kWeekdays[i]) return static_cast<int>(i) + 1;
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value >= field.low && value <= field.high ? std::optional(value) : std::nullopt;
}

// "5", "1-5", "*/15", "10/5", "1-10/2"; appends to `out`.
bool expand(const std::string& part, const Field& field, std::vector<int>& out) {
  const auto slash = part.find('/');
  const std::string range = part.substr(0, slash);
  int step = 1;
  if (slash != std::string::npos) {
    const auto given = value_of(part.substr(slash + 1), {field.name, 1, 10'000});
    if (!given) return false;
    step = *given;
  }
  int low = field.low, high = field.high;
  if (range != "*") {
    const auto dash = range.find('-');
    const auto first = value_of(range.substr(0, dash), field);
    if (!first) return false;
    low = *first;
    if (dash != std::string::npos) {
      const auto last = value_of(range.substr(dash + 1), field);
      if (!last || *last < low) return false;
      high = *last;
    } else if (slash == std::string::npos) {
      high = low;
    }
  }
  for (int v = low; v <= high; v += step) out.push_back(v);
  return true;
}

base::Result<std::vector<int>> values(const std::string& text, const Field& field) {
  std::vector<int> out;
  if (text == "*" || text == "?") return out;
  for (const auto& part : split(text, ',')) {
    if (!expand(part, field, out))
      return fault(fmt::format("'{}' is no {} of a cron expression", part, field.name));
  }
  return out;
}

base::Result<std::vector<CronDay>> weekdays(const std::string& text) {
  const Field field{"day of the week", 1, 7};
  std::vector<CronDay> out;
  if (text == "*" || text == "?") return out;
  for (const auto& part : split(text, ',')) {
    const auto hash = part.find('#');
    const bool last = part.size() > 1 && part.back() == 'L';
    if (hash != std::string::npos || last) {
      const auto day = value_of(part.substr(0, last ? part.size() - 1 : hash), field);
      const auto nth = last ? std::optional(-1) : value_of(part.substr(hash + 1), {"", 1, 5});
      if (!day || !nth) return fault(fmt::format("'{}' is no day of the week of a cron expression", part));
      out.push_back({*day, *nth});
      continue;
    }
    std::vector<int> plain;
    if (part == "L")
      plain = {7};
    else if (!expand(part, field, plain))
      return fault(fmt::format("'{}' is no {} of a cron expression", part, field.name));
    for (const int day : plain) out.push_back({day, 0});
  }
  return out;
}

base::Result<Schedule> parse_cron(const std::string& inside) {
  const auto fields = split(inside, ' ');
  if (fields.size() != 6)
    return fault("a cron expression has six fields: minutes hours day-of-month month day-of-week year");
  if ((fields[2] == "?") == (fields[4] == "?"))
    return fault("of day-of-month and day-of-week of a cron expression exactly one must be ?");
  Schedule out;
  out.kind = Schedule::Kind::kCron;
  out.last_day_of_month = fields[2] == "L";
  struct Row {
    const std::string& text;
    Field field;
    std::vector<int>& to;
  } const rows[] = {{fields[0], {"minute", 0, 59}, out.minutes},
                    {fields[1], {"hour", 0, 23}, out.hours},
                    {out.last_day_of_month ? fields[4] : fields[2], {"day of the month", 1, 31}, out.days},
                    {fields[3], {"month", 1, 12}, out.months},
                    {fields[5], {"year", 1970, 2199}, out.years}};
  for (const Row& row : rows) {
    auto parsed = values(row.text, row.field);
    if (!parsed) return tl::unexpected(parsed.error());
    row.to = std::move(*parsed);
  }
  auto days = weekdays(fields[4]);
  if (!days) return tl::unexpected(days.error());
  out.weekdays = std::move(*days);
  return out;
}

base::Result<Schedule> parse_rate(const std::string& inside) {
  const auto words = split(inside, ' ');
  const auto count = words.size() == 2 ? value_of(words[0], {"", 1, 1'000'000}) : std::nullopt;
  if (!count) return fault("a rate has the form rate(5 minutes)");
  Schedule out;
  out.kind = Schedule::Kind::kRate;
  for (const auto& [unit, seconds] : {std::pair("minute", std::int64_t{60}),
                                      std::pair("hour", std::int64_t{3600}), std::pair("day", kDay)}) {
    if (words[1] == (*count == 1 ? unit : std::string(unit) + "s")) out.every_s = *count * seconds;
  }
  if (out.every_s == 0) return fault("the unit of a rate is minute, hour or day, in the plural above 1");
  return out;
}

base::Result<Schedule> parse_at(const std::string& inside) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, used = 0;
  const int got = std::sscanf(inside.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &y, &mo, &d, &h, &mi, &s, &used);
  if (got != 6 || used != static_cast<int>(inside.size()) || y < 1970 || mo < 1 || mo > 12 || d < 1 ||
      d > month_length(y, mo) || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59)
    return fault("a time has the form at(yyyy-mm-ddThh:mm:ss)");
  Schedule out;
  out.at_local_s = days_of(y, mo, d) * kDay + h * 3600 + mi * 60 + s;
  return out;
}

bool holds(const std::vector<int>& allowed, int value) {
  return allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

bool day_matches(const Schedule& s, std::int64_t days) {
  const Civil c = civil_of(days);
  if (!holds(s.years, c.year) || !holds(s.months, c.month) || !holds(s.days, c.day)) return false;
  const int length = month_length(c.year, c.month);
  if (s.last_day_of_month && c.day != length) return false;
  if (s.weekdays.empty()) return true;
  const int weekday = static_cast<int>((days + 4) % 7) + 1;  // 1970-01-01 was a Thursday
  return std::any_of(s.weekdays.begin(), s.weekdays.end(), [&](const CronDay& w) {
    if (w.weekday != weekday) return false;
    return w.nth == 0 || (w.nth < 0 ? c.day + 7 > length : (c.day - 1) / 7 + 1 == w.nth);
  });
}

std::optional<std::int64_t> to_utc(std::int64_t local, const ZoneOffset& offset) {
  for (const std::int64_t guess : {local - offset(local), local - offset(local - offset(local))}) {
    if (guess + offset(guess) == local) return guess;
  }
  return std::nullopt;  // a local time that does not exist
}

std::optional<std::int64_t> next_cron(const Schedule& s, std::int64_t after, const ZoneOffset& offset) {
  const std::int64_t local = after + offset(after);
  for (std::int64_t day = local / kDay; day < local / kDay + kSearchDays; ++day) {
    if (!day_matches(s, day)) continue;
    for (int minute = 0; minute < 24 * 60; ++minute) {
      if (!holds(s.hours, minute / 60) || !holds(s.minutes, minute % 60)) continue;
      const auto at = to_utc(day * kDay + minute * 60, offset);
      if (at && *at > after) return at;
    }
  }
  return std::nullopt;
}

}  // namespace

base::Result<Schedule> parse_schedule(const std::string& text) {
  const auto open = text.find('(');
  if (open == std::string::npos || text.back() != ')')
    return fault("a schedule is at(...), rate(...) or cron(...)");
  const std::string kind = text.substr(0, open), inside = text.substr(open + 1, text.size() - open - 2);
  if (kind == "at") return parse_at(inside);
  if (kind == "rate") return parse_rate(inside);
  if (kind == "cron") return parse_cron(inside);
  return fault("a schedule is at(...), rate(...) or cron(...)");
}

std::optional<std::int64_t> next_run(const Schedule& schedule, std::int64_t after_s, std::int64_t from_s,
                                     const ZoneOffset& offset) {
  switch (schedule.kind) {
    case Schedule::Kind::kAt: {
      const auto at = to_utc(schedule.at_local_s, offset);
      return at && *at > after_s ? at : std::nullopt;
    }
    case Schedule::Kind::kRate:
      if (after_s < from_s) return from_s;
      return from_s + ((after_s - from_s) / schedule.every_s + 1) * schedule.every_s;
    case Schedule::Kind::kCron:
      return next_cron(schedule, after_s, offset);
  }
  return std::nullopt;
}

}  // namespace headroom::capacity
