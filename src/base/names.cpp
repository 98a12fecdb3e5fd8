// Checks and formats of names and times.
#include "base/names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::base {
namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads exactly `digits` digits at `at`; -1 if they are not there.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return text.size() > 80 ? out + "..." : out;
}

}  // namespace

bool is_sagemaker_name(std::string_view name) {
  // The pattern bounds alphanumerics, not hyphens; SageMaker's separate length limit is 63.
  if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

Result<void> check_sagemaker_name(std::string_view name, std::string_view what) {
  if (is_sagemaker_name(name)) return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} '{}' is not valid; use 1 to 63 letters, digits and inner hyphens", what,
                          printable(name)));
}

bool is_path_component(std::string_view name) {
  if (name.empty() || name.size() > 128 || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string make_run_id(WallTime now, std::uint64_t random) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  auto ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  std::string id(13, '0');
  for (int i = 8; i >= 0; --i, ms /= 36) id[static_cast<std::size_t>(i)] = kDigits[ms % 36];
  for (int i = 12; i >= 9; --i, random /= 36) id[static_cast<std::size_t>(i)] = kDigits[random % 36];
  return id;
}

bool is_run_id(std::string_view id) {
  return id.size() == 13 &&
         std::all_of(id.begin(), id.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
}

std::string format_iso8601(WallTime time) {
  using namespace std::chrono;
  const auto ms = floor<milliseconds>(time);
  const auto day = floor<days>(ms);
  const year_month_day date{day};
  const hh_mm_ss clock{ms - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<WallTime> parse_iso8601(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const int y = number_at(text, 0, 4), mo = number_at(text, 5, 2), d = number_at(text, 8, 2);
  const int h = number_at(text, 11, 2), mi = number_at(text, 14, 2), s = number_at(text, 17, 2);
  if (y < 1678 || y > 2261) return std::nullopt;  // what WallTime's nanoseconds can hold
  if (mo < 0 || d < 0 || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 60) return std::nullopt;
  const year_month_day date{year{y}, month{static_cast<unsigned>(mo)}, day{static_cast<unsigned>(d)}};
  if (!date.ok()) return std::nullopt;
  std::size_t at = 19;
  std::int64_t nanos = 0;
  if (text[at] == '.') {
    std::size_t digits = 0;
    for (++at; at < text.size() && is_digit(text[at]); ++at) {
      if (++digits > 9) return std::nullopt;
      nanos = nanos * 10 + (text[at] - '0');
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 9; ++digits) nanos *= 10;
  }
  const std::string_view zone = text.substr(at);
  if (zone != "Z" && zone != "+00:00") return std::nullopt;
  return time_point_cast<WallTime::duration>(sys_days{date} + hours{h} + minutes{mi} + seconds{s} +
                                             nanoseconds{nanos});
}

std::string host_in_url(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host) : "[" + std::string(host) + "]";
}

}  // namespace headroom::base
