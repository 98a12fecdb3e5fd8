// Reads arrival times from CSV and JSON lines.
#include "bench/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;
constexpr std::uintmax_t kLargest = 512U << 20U;

std::string trimmed(std::string text) {
  const auto junk = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '"'; };
  while (!text.empty() && junk(text.back())) text.pop_back();
  std::size_t from = 0;
  while (from < text.size() && junk(text[from])) ++from;
  return text.substr(from);
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) out.push_back(trimmed(cell));
  return out;
}

// Seconds since an origin that is the same for all lines. `unit_s`: of a plain number.
std::optional<double> seconds_of(const std::string& text, double unit_s = 1) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, used = 0;
  char between = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%c%2d:%2d:%lf%n", &year, &month, &day, &between, &hour, &minute,
                  &second, &used) == 7 &&
      (between == 'T' || between == ' ')) {
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    const std::string rest = text.substr(static_cast<std::size_t>(used));
    if (!date.ok() || hour > 23 || minute > 59 || second < 0 || second >= 61 ||
        !(rest.empty() || rest == "Z" || rest == "+00:00"))
      return std::nullopt;
    const auto days = std::chrono::sys_days(date).time_since_epoch().count();
    return static_cast<double>(days) * 86400 + hour * 3600 + minute * 60 + second;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value * unit_s;
}

constexpr double kMillisecond = 1e-3;
constexpr double kLargestSeconds = 1e11;  // the year 5138; in milliseconds since 1970 it is 1973

struct Columns {
  std::size_t time = 0;
  double unit_s = 1;  // of a number in it
  std::optional<std::size_t> count, period;
};

constexpr std::array kTimeNames{"timestamp",    "time",    "t_s",  "at_s",
                                "timestamp_ms", "time_ms", "t_ms", "at_ms"};

Columns columns_of(const std::vector<std::string>& header) {
  Columns columns;
  bool found = false;
  const auto unit_of = [](const std::string& name) { return name.ends_with("_ms") ? kMillisecond : 1; };
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string name = header[i];
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (i == 0) columns.unit_s = unit_of(name);
    if (!found && std::find(kTimeNames.begin(), kTimeNames.end(), name) != kTimeNames.end()) {
      columns.time = i;
      columns.unit_s = unit_of(name);
      found = true;
    }
    if (name == "count") columns.count = i;
    if (name == "period_s") columns.period = i;
  }
  return columns;
}

// The arrivals of one line; false: it is not one.
bool add_arrivals(const Columns& columns, const std::vector<std::string>& row, std::vector<double>& out) {
  constexpr double kMost = 1e8, kPeriodS = 60;
  if (columns.time >= row.size()) return false;
  const auto at = seconds_of(row[columns.time], columns.unit_s);
  if (!at) return false;
  if (!columns.count) {
    out.push_back(*at);
    return true;
  }
  if (*columns.count >= row.size()) return false;
  const auto count = seconds_of(row[*columns.count]);
  std::optional<double> period = kPeriodS;
  if (columns.period) period = *columns.period < row.size() ? seconds_of(row[*columns.period]) : std::nullopt;
  if (!count || *count < 0 || *count > kMost - static_cast<double>(out.size()) || !period || *period <= 0)
    return false;
  const auto whole = static_cast<std::size_t>(std::llround(*count));
  for (std::size_t i = 0; i < whole; ++i)
    out.push_back(*at + *period * (static_cast<double>(i) + 0.5) / static_cast<double>(whole));
  return true;
}

std::optional<double> json_time(const std::string& line) {
  const auto j = nlohmann::json::parse(line, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  constexpr std::array<std::pair<const char*, double>, 4> kKeys{
      {{"t_s", 1}, {"timestamp", 1}, {"t_ms", kMillisecond}, {"timestamp_ms", kMillisecond}}};
  for (const auto& [key, unit_s] : kKeys) {
    const auto it = j.find(key);
    if (it == j.end()) continue;
    if (it->is_number()) return it->get<double>() * unit_s;
    if (it->is_string()) return seconds_of(it->get<std::string>(), unit_s);
  }
  return std::nullopt;
}

}  // namespace

base::Result<capacity::Trace> parse_trace(const std::string& text, const std::string& name) {
  capacity::Trace trace;
  trace.name = std::filesystem::path(name).filename().string();
  std::stringstream stream(text);
  std::string line;
  std::size_t number = 0;
  Columns columns;
  bool header_seen = false;
  while (std::getline(stream, line)) {
    ++number;
    line = trimmed(line);
    if (line.empty()) continue;
    bool good = false;
    if (line.front() == '{') {
      const auto at = json_time(line);
      good = at.has_value();
      if (good) trace.at_s.push_back(*at);
    } else {
      const auto row = cells(line);
      if (!header_seen) {
        header_seen = true;
        columns = columns_of(row);
        if (!seconds_of(row[columns.time])) continue;  // the header line
      }
      good = add_arrivals(columns, row, trace.at_s);
    }
    if (!good)
      return fail(
          ErrorCode::kInvalidData,
          fmt::format("{}:{}: no time in '{}'; expected seconds, or a date with time, in the column "
                      "'timestamp' or the first (and a number in 'count'), or a JSON line with \"t_s\"",
                      name, number, line.substr(0, 60)));
    if (!trace.at_s.empty() && trace.at_s.back() > kLargestSeconds)
      return fail(
          ErrorCode::kInvalidData,
          fmt::format("{}:{}: {:.0f} is no time in seconds; where times are in milliseconds, name them "
                      "t_ms or timestamp_ms",
                      name, number, trace.at_s.back()));
  }
  if (trace.at_s.empty())
    return fail(ErrorCode::kInvalidData, fmt::format("{} holds no arrival; expected one a line", name));
  std::sort(trace.at_s.begin(), trace.at_s.end());
  const double first = trace.at_s.front();
  for (double& at : trace.at_s) at -= first;
  if (trace.at_s.back() > 31 * 86400.0)
    return fail(
        ErrorCode::kInvalidData,
        fmt::format("{} spans {:.0f} days; at most 31 can be simulated: cut it, or check that all times are "
                    "in seconds",
                    name, trace.at_s.back() / 86400));
  return trace;
}

base::Result<capacity::Trace> read_trace(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error)
    return fail(ErrorCode::kNotFound, fmt::format("cannot read the trace {}: {}", path, error.message()));
  if (size > kLargest)
    return fail(ErrorCode::kResourceExhausted,
                fmt::format("{} has {} MiB; at most 512 are read", path, size >> 20U));
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) return fail(ErrorCode::kIo, fmt::format("{} could not be read to its end", path));
  return parse_trace(text, path);
}

}  // namespace headroom::bench
