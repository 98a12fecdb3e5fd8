// Checked access to request members.
#include "cloud/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/names.hpp"
#include "base/options.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kMaxDepth = 64;
const Json kEmptyList = Json::array();
const Json kEmptyObject = Json::object();

std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    if (const auto number = base::parse_number(value.get_ref<const std::string&>())) return *number;
  }
  return std::nullopt;
}

// Millions of nested brackets would keep the parser busy for seconds.
bool is_shallow(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

std::string shown(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : dump(value);
  if (text.size() > 120) text = text.substr(0, 120) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  return text;
}

}  // namespace

const Json* Fields::find(std::string_view key, bool required) {
  if (!fault_.empty()) return nullptr;
  if (body_.is_object()) {
    const auto it = body_.find(std::string(key));
    if (it != body_.end() && !it->is_null()) return &*it;
  }
  if (required) {
    fault_ = fmt::format(
        "1 validation error detected: Value null at '{}{}' failed to satisfy constraint: Member must not be "
        "null",
        path_, key);
  }
  return nullptr;
}

bool Fields::has(std::string_view key) const {
  if (!body_.is_object()) return false;
  const auto it = body_.find(std::string(key));
  return it != body_.end() && !it->is_null();
}

void Fields::refuse(std::string_view key, std::string_view constraint) {
  if (!fault_.empty()) return;
  const Json* value = find(key, false);
  fault_ = fmt::format("1 validation error detected: Value '{}' at '{}{}' failed to satisfy constraint: {}",
                       value ? shown(*value) : "null", path_, key, constraint);
}

void Fields::take(const Fields& inner) {
  if (fault_.empty()) fault_ = inner.fault_;
}

tl::unexpected<base::Error> Fields::failure() const { return fail(ErrorCode::kInvalidArgument, fault_); }

std::optional<std::string> Fields::maybe_text(std::string_view key, std::size_t max_length) {
  const Json* value = find(key, false);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    refuse(key, "Member must be a string");
    return std::nullopt;
  }
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() > max_length) {
    refuse(key, fmt::format("Member must have length less than or equal to {}", max_length));
    return std::nullopt;
  }
  return text;
}

std::string Fields::text(std::string_view key, std::size_t max_length) {
  find(key, true);
  const auto value = maybe_text(key, max_length);
  if (value && value->empty()) refuse(key, "Member must have length greater than or equal to 1");
  return value.value_or("");
}

std::string Fields::name(std::string_view key) {
  const std::string value = text(key, 63);
  if (ok() && !base::is_sagemaker_name(value))
    refuse(key, "Member must satisfy regular expression pattern: ^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}");
  return ok() ? value : "";
}

std::optional<std::string> Fields::maybe_choice(std::string_view key, Choices allowed) {
  const auto value = maybe_text(key);
  if (!value) return std::nullopt;
  for (const auto candidate : allowed) {
    if (*value == candidate) return value;
  }
  refuse(key, fmt::format("Member must satisfy enum value set: [{}]", fmt::join(allowed, ", ")));
  return std::nullopt;
}

std::string Fields::choice(std::string_view key, Choices allowed) {
  find(key, true);
  return maybe_choice(key, allowed).value_or("");
}

std::optional<double> Fields::maybe_number(std::string_view key) {
  const Json* value = find(key, false);
  if (value == nullptr) return std::nullopt;
  const auto number = as_number(*value);
  if (!number || !std::isfinite(*number)) {
    refuse(key, "Member must be a number");
    return std::nullopt;
  }
  return number;
}

double Fields::number(std::string_view key) {
  find(key, true);
  return maybe_number(key).value_or(0);
}

std::optional<std::int64_t> Fields::maybe_integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const auto number = maybe_number(key);
  if (!number) return std::nullopt;
  if (*number != std::floor(*number) || *number < static_cast<double>(low) ||
      *number > static_cast<double>(high)) {
    refuse(key, fmt::format("Member must be an integer from {} to {}", low, high));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*number);
}

std::int64_t Fields::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  find(key, true);
  return maybe_integer(key, low, high).value_or(low);
}

std::optional<bool> Fields::maybe_flag(std::string_view key) {
  const Json* value = find(key, false);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_string() && (*value == "true" || *value == "True")) return true;
  if (value->is_string() && (*value == "false" || *value == "False")) return false;
  refuse(key, "Member must be a boolean");
  return std::nullopt;
}

std::optional<base::WallTime> Fields::maybe_time(std::string_view key) {
  const Json* value = find(key, false);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) {
    if (const auto time = base::parse_iso8601(value->get_ref<const std::string&>())) return time;
  }
  const auto number = as_number(*value);
  if (number && std::isfinite(*number) && std::abs(*number) < 9e9) return from_epoch_seconds(*number);
  refuse(key, "Member must be a timestamp");
  return std::nullopt;
}

base::WallTime Fields::time(std::string_view key) {
  find(key, true);
  return maybe_time(key).value_or(base::WallTime{});
}

const Json& Fields::maybe_list(std::string_view key) {
  const Json* value = find(key, false);
  if (value == nullptr) return kEmptyList;
  if (value->is_array()) return *value;
  refuse(key, "Member must be a list");
  return kEmptyList;
}

const Json& Fields::list(std::string_view key) {
  find(key, true);
  return maybe_list(key);
}

const Json& Fields::object(std::string_view key) {
  const Json* value = find(key, true);
  if (value == nullptr) return kEmptyObject;
  if (value->is_object()) return *value;
  refuse(key, "Member must be a structure");
  return kEmptyObject;
}

std::vector<std::string> Fields::texts(std::string_view key, std::size_t max_length) {
  std::vector<std::string> out;
  for (const Json& item : maybe_list(key)) {
    if (!item.is_string() || item.get_ref<const std::string&>().size() > max_length) {
      refuse(key, "Member must be a list of strings");
      return {};
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

base::Result<Json> parse_object(std::string_view text) {
  if (text.empty()) return Json::object();
  if (!is_shallow(text))
    return fail(ErrorCode::kInvalidData, "the body is nested too deeply", "SerializationException");
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_object())
    return fail(ErrorCode::kInvalidData, "the body is not a JSON object", "SerializationException");
  return value;
}

namespace {

constexpr std::array<std::string_view, 27> kNumbers{"ContainerStartupHealthCheckTimeoutInSeconds",
                                                    "Cooldown",
                                                    "DatapointsToAlarm",
                                                    "DesiredInstanceCount",
                                                    "DesiredWeight",
                                                    "EvaluationPeriods",
                                                    "InitialInstanceCount",
                                                    "InitialVariantWeight",
                                                    "MaxCapacity",
                                                    "MaxDatapoints",
                                                    "MaxRecords",
                                                    "MaxResults",
                                                    "MaximumExecutionTimeoutInSeconds",
                                                    "MetricIntervalLowerBound",
                                                    "MetricIntervalUpperBound",
                                                    "MinAdjustmentMagnitude",
                                                    "MinCapacity",
                                                    "ModelDataDownloadTimeoutInSeconds",
                                                    "Period",
                                                    "ScaleInCooldown",
                                                    "ScaleOutCooldown",
                                                    "ScalingAdjustment",
                                                    "TargetValue",
                                                    "TerminationWaitInSeconds",
                                                    "Threshold",
                                                    "VolumeSizeInGB",
                                                    "WaitIntervalInSeconds"};
constexpr std::array<std::string_view, 9> kFlags{"ActionsEnabled",
                                                 "DisableScaleIn",
                                                 "DynamicScalingInSuspended",
                                                 "DynamicScalingOutSuspended",
                                                 "EnableSSMAccess",
                                                 "IncludeNotScaledActivities",
                                                 "RetainAllVariantProperties",
                                                 "ReturnData",
                                                 "ScheduledScalingSuspended"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The first member that is text and may not be; "" if there is none. Takes nulls out on the way.
std::string tidy(Json& value) {
  if (value.is_array()) {
    for (Json& item : value) {
      if (auto wrong = tidy(item); !wrong.empty()) return wrong;
    }
  }
  if (!value.is_object()) return "";
  for (auto member = value.begin(); member != value.end();) {
    if (member->is_null()) {
      member = value.erase(member);
      continue;
    }
    if (member->is_string() && (is_one_of(member.key(), kNumbers) || is_one_of(member.key(), kFlags)))
      return member.key();
    // The names in a map of texts are its owner's.
    if (member.key() != "Environment") {
      if (auto wrong = tidy(*member); !wrong.empty()) return wrong;
    }
    ++member;
  }
  return "";
}

}  // namespace

base::Result<Json> typed_members(Json body) {
  if (const auto wrong = tidy(body); !wrong.empty()) {
    return fail(ErrorCode::kInvalidData,
                fmt::format("STRING_VALUE can not be converted to {}: {}",
                            is_one_of(wrong, kFlags) ? "a Boolean" : "a number", wrong),
                "SerializationException");
  }
  return body;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

double epoch_seconds(base::WallTime time) {
  return static_cast<double>(epoch_ms(time)) / 1000.0;  // milliseconds are what AWS keeps
}

std::int64_t epoch_ms(base::WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

base::WallTime from_epoch_seconds(double seconds) {
  return base::WallTime{std::chrono::milliseconds{std::llround(seconds * 1000.0)}};
}

void copy_members(const Json& from, Json& to, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto it = from.find(key);
    if (it != from.end() && !it->is_null()) to[key] = *it;
  }
}

base::Result<Page> paginate(std::size_t size, std::int64_t limit, const std::optional<std::string>& token) {
  Page page;
  if (token && !token->empty()) {
    const auto* end = token->data() + token->size();
    const auto parsed = std::from_chars(token->data(), end, page.begin);
    if (parsed.ec != std::errc{} || parsed.ptr != end)
      return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a token of this service", *token));
  }
  page.begin = std::min(page.begin, size);
  page.end = std::min(size, page.begin + static_cast<std::size_t>(std::max<std::int64_t>(limit, 1)));
  if (page.end < size) page.next_token = fmt::format("{}", page.end);
  return page;
}

}  // namespace headroom::cloud
