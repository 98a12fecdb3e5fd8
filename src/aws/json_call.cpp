// JSON operations: send, parse, read fields.
#include "aws/json_call.hpp"

#include <cmath>

namespace headroom::aws {
namespace {

const json kNoList = json::array();
const json kNoObject = json::object();

std::optional<base::WallTime> from_scaled(std::optional<double> value, double per_second) {
  if (!value || !std::isfinite(*value) || std::abs(*value / per_second) > 1e11) return std::nullopt;
  return base::WallTime{std::chrono::duration_cast<base::WallTime::duration>(
      std::chrono::duration<double>(*value / per_second))};
}

}  // namespace

base::Result<json> call(Transport& transport, const JsonCall& what, const json& body) {
  ApiRequest request;
  request.service = what.service;
  request.operation = what.operation;
  request.resource = what.resource;
  request.deadline = what.deadline;
  request.repeatable = what.repeatable;
  request.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  auto answer = transport.send(request);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->empty()) return json::object();
  json parsed = json::parse(*answer, nullptr, false);
  if (!parsed.is_object()) {
    return base::fail(base::ErrorCode::kInvalidData,
                      what.operation + " of '" + what.resource +
                          "': the answer is not a JSON object; check the endpoint URL",
                      answer->substr(0, 200));
  }
  return parsed;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<int> int_of(const json& object, const char* key) {
  const auto value = number_of(object, key);
  if (!value || !std::isfinite(*value) || std::abs(*value) > 2e9) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> bool_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

std::optional<base::WallTime> time_of(const json& object, const char* key) {
  return from_scaled(number_of(object, key), 1.0);
}

std::optional<base::WallTime> millis_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    return from_scaled(number_of(object, key), 1000.0);
  return base::WallTime{
      std::chrono::milliseconds{found->get<std::int64_t>()}};  // exact: log lines are ordered by it
}

const json& list_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNoList;
}

const json& object_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNoObject;
}

std::vector<std::string> strings_of(const json& object, const char* key) {
  std::vector<std::string> out;
  for (const json& element : list_of(object, key)) {
    if (element.is_string()) out.push_back(element.get<std::string>());
  }
  return out;
}

double epoch_seconds(base::WallTime time) { return static_cast<double>(epoch_millis(time)) / 1000.0; }

std::int64_t epoch_millis(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace headroom::aws
