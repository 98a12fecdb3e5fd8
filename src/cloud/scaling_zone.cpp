// The second, 64-bit block of a TZif file.
#include "cloud/scaling_zone.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "base/atomic_file.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kHeader = 44;
constexpr std::size_t kMaxFile = 1U << 20U;

bool is_zone_name(const std::string& name) {
  if (name.empty() || name.size() > 64 || name.front() == '/' || name.find("..") != std::string::npos)
    return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
  });
}

std::int64_t big_endian(const std::string& data, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value = value << 8U | static_cast<unsigned char>(data[at + static_cast<std::size_t>(i)]);
  return bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

struct Counts {
  std::size_t isut, isstd, leap, time, type, chars;
  std::size_t size(std::size_t time_bytes) const {
    return time * time_bytes + time + type * 6 + chars + leap * (time_bytes + 4) + isstd + isut;
  }
};

bool read_counts(const std::string& data, std::size_t at, Counts& out) {
  if (data.size() < at + kHeader || data.compare(at, 4, "TZif") != 0) return false;
  const auto count = [&](std::size_t i) {
    return static_cast<std::size_t>(big_endian(data, at + 20 + 4 * i, 4) & 0xffffff);
  };
  out = {count(0), count(1), count(2), count(3), count(4), count(5)};
  return true;
}

tl::unexpected<base::Error> unknown(const std::string& name) {
  return base::fail(
      base::ErrorCode::kNotFound,
      fmt::format("the time zone '{}' is not known on this machine; install tzdata or use UTC", name));
}

// What stands between the line ends after the blocks; empty where nothing does.
std::string_view footer_of(const std::string& data, std::size_t at) {
  if (data.size() <= at || data[at] != '\n') return {};
  const auto end = data.find('\n', at + 1);
  if (end == std::string::npos) return {};
  return std::string_view(data).substr(at + 1, end - at - 1);
}

}  // namespace

base::Result<TimeZone> TimeZone::load(const std::string& name, base::WallTime now) {
  if (name == "UTC" || name == "Etc/UTC" || name == "GMT" || name == "Etc/GMT") return TimeZone{};
  if (!is_zone_name(name)) return unknown(name);
  const auto data = base::read_file("/usr/share/zoneinfo/" + name);
  if (!data || data->size() > kMaxFile) return unknown(name);
  return parse(name, *data, now);
}

base::Result<TimeZone> TimeZone::parse(const std::string& name, const std::string& data, base::WallTime now) {
  TimeZone zone;
  Counts old{}, counts{};
  if (!read_counts(data, 0, old) || data[4] < '2') return unknown(name);
  const std::size_t head = kHeader + old.size(4);
  if (!read_counts(data, head, counts) || data.size() < head + kHeader + counts.size(8) || counts.type == 0)
    return unknown(name);
  const std::size_t times = head + kHeader, kinds = times + counts.time * 8, types = kinds + counts.time;
  const auto offset_of = [&](std::size_t type) {
    return static_cast<int>(big_endian(data, types + std::min(type, counts.type - 1) * 6, 4));
  };
  zone.first_ = offset_of(0);
  for (std::size_t i = 0; i < counts.time; ++i)
    zone.transitions_.push_back(
        {big_endian(data, times + i * 8, 8), offset_of(static_cast<unsigned char>(data[kinds + i]))});
  const std::string_view footer = footer_of(data, times + counts.size(8));
  zone.rule_ = ZoneRule::parse(footer);
  const auto now_s = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  const bool covered = zone.transitions_.empty() ? footer.empty() : zone.transitions_.back().at > now_s;
  if (!zone.rule_ && !covered)
    return base::fail(base::ErrorCode::kInvalidData,
                      fmt::format("the file of the time zone '{}' has no rule for the present that can be "
                                  "read; install another tzdata or use UTC",
                                  name));
  return zone;
}

int TimeZone::offset_s(std::int64_t utc_s) const {
  const auto after = std::upper_bound(transitions_.begin(), transitions_.end(), utc_s,
                                      [](std::int64_t t, const Transition& row) { return t < row.at; });
  if (after == transitions_.end() && rule_) return rule_->offset_s(utc_s);
  return after == transitions_.begin() ? first_ : std::prev(after)->offset;
}

}  // namespace headroom::cloud
