// Parsing, checking and printing of option values.
#include "base/option_value.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace headroom::base {
namespace {

tl::unexpected<Error> not_a(const std::string& what, const std::string& text) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not {}", text, what));
}

}  // namespace

Result<double> parse_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value)) return not_a("a number", text);
  return value;
}

Result<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) return not_a("a whole number", text);
  return value;
}

Result<Duration> parse_duration(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(digits);
  const auto number = parse_number(text.substr(0, digits));
  double scale = 1;
  if (unit == "ms") {
    scale = 0.001;
  } else if (unit == "m") {
    scale = 60;
  } else if (unit == "h") {
    scale = 3600;
  } else if (!unit.empty() && unit != "s") {
    return not_a("a time such as 500ms, 20s, 2m or 1h", text);
  }
  constexpr double kLongest = 100.0 * 365 * 86400;  // stays far inside 64 bits of nanoseconds
  if (!number || *number * scale > kLongest) return not_a("a time such as 500ms, 20s, 2m or 1h", text);
  return from_s(*number * scale);
}

std::string format_duration(Duration duration) {
  const double seconds = to_s(duration);
  if (seconds != 0 && std::abs(seconds) < 1) return fmt::format("{}ms", to_ms(duration));
  return fmt::format("{}s", seconds);
}

std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);  // Levenshtein, one row at a time
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t above = row[j];
        row[j] =
            std::min({above + 1, row[j - 1] + 1, diagonal + (name[i - 1] == candidate[j - 1] ? 0U : 1U)});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

namespace detail {
namespace {

Result<void> check_range(const Option& option, double value, const std::string& text) {
  if ((!option.min || value >= *option.min) && (!option.max || value <= *option.max)) return {};
  const std::string range = option.min && option.max
                                ? fmt::format("between {} and {}", *option.min, *option.max)
                            : option.min ? fmt::format("at least {}", *option.min)
                                         : fmt::format("at most {}", *option.max);
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' must be {}", text, range));
}

Result<void> check_choice(const Option& option, const std::string& text) {
  if (option.choices.empty() ||
      std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end())
    return {};
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not one of {}", text, fmt::join(option.choices, ", ")));
}

Result<void> read_one(const Option&, const std::string& text, bool& value) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "1" || lower == "true" || lower == "yes" || lower == "on") {
    value = true;
  } else if (lower == "0" || lower == "false" || lower == "no" || lower == "off") {
    value = false;
  } else {
    return not_a("true or false", text);
  }
  return {};
}

Result<void> read_one(const Option& option, const std::string& text, std::int64_t& value) {
  const auto number = parse_integer(text);
  if (!number) return tl::unexpected(number.error());
  if (auto ok = check_range(option, static_cast<double>(*number), text); !ok) return ok;
  value = *number;
  return {};
}

Result<void> read_one(const Option& option, const std::string& text, int& value) {
  std::int64_t wide = 0;
  if (auto ok = read_one(option, text, wide); !ok) return ok;
  if (wide < INT32_MIN || wide > INT32_MAX) return not_a("a whole number of 32 bits", text);
  value = static_cast<int>(wide);
  return {};
}

Result<void> read_one(const Option& option, const std::string& text, double& value) {
  const auto number = parse_number(text);
  if (!number) return tl::unexpected(number.error());
  if (auto ok = check_range(option, *number, text); !ok) return ok;
  value = *number;
  return {};
}

Result<void> read_one(const Option& option, const std::string& text, std::string& value) {
  if (auto ok = check_choice(option, text); !ok) return ok;
  value = text;
  return {};
}

Result<void> read_one(const Option& option, const std::string& text, Duration& value) {
  const auto duration = parse_duration(text);
  if (!duration) return tl::unexpected(duration.error());
  if (auto ok = check_range(option, to_s(*duration), text); !ok) return ok;
  value = *duration;
  return {};
}

template <class T>
Result<void> read_one(const Option& option, const std::string& text, std::optional<T>& value) {
  T inner{};
  if (auto ok = read_one(option, text, inner); !ok) return ok;
  value = inner;
  return {};
}

template <class T>
Result<void> read_list(const Option& option, const std::vector<std::string>& texts, std::vector<T>& values) {
  std::vector<T> read;
  for (const std::string& text : texts) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t comma = std::min(text.find(',', from), text.size());
      if (comma > from) {
        T value{};
        if (auto ok = read_one(option, text.substr(from, comma - from), value); !ok) return ok;
        read.push_back(value);
      }
      from = comma + 1;
    }
  }
  values = std::move(read);
  return {};
}

template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int value) { return fmt::format("{}", value); }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::string& value) { return value; }
std::string text_of(Duration value) { return format_duration(value); }
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

}  // namespace

Result<void> store_option(const Option& option, const std::vector<std::string>& texts) {
  return std::visit(
      [&](auto* target) -> Result<void> {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (kIsVector<T>) {
          return read_list(option, texts, *target);
        } else {
          return read_one(option, texts.back(), *target);
        }
      },
      option.target);
}

std::string option_text(const OptionTarget& target) {
  return std::visit([](const auto* value) { return text_of(*value); }, target);
}

bool is_flag(const Option& option) { return std::holds_alternative<bool*>(option.target); }

bool is_list(const Option& option) {
  return std::visit([](const auto* t) { return kIsVector<std::remove_cvref_t<decltype(*t)>>; },
                    option.target);
}

std::string env_name(const std::string& prefix, const std::string& option) {
  std::string name = prefix;
  for (const char c : option)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace detail
}  // namespace headroom::base
