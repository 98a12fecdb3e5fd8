// The months and the days of the week; internal to text.
//
// A short form is known by its first three letters. Pure; no errors.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::text::rules {

inline constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                          "May",       "June",     "July",     "August",
                                                          "September", "October",  "November", "December"};
inline constexpr std::array<std::string_view, 7> kWeekdays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                           "Friday", "Saturday", "Sunday"};

// The name that begins as `written` does ("Sept", "Tues", "May"), if there is one.
template <std::size_t N>
std::optional<std::string_view> name_of(const std::array<std::string_view, N>& names,
                                        std::string_view written) {
  const auto known = std::find_if(names.begin(), names.end(), [&](std::string_view name) {
    return name.substr(0, 3) == written.substr(0, 3);
  });
  if (known == names.end()) return std::nullopt;
  return *known;
}

// As a pattern: "Monday|Tuesday|...".
template <std::size_t N>
std::string any_of_names(const std::array<std::string_view, N>& names) {
  std::string out;
  for (const auto name : names) out.append(out.empty() ? "" : "|").append(name);
  return out;
}

}  // namespace headroom::text::rules
