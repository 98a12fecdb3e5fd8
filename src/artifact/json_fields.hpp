// Small helpers between optionals and JSON: unknown is null, one way and the other; used inside artifact
// alone.
//
// Reading assumes that check_schema has passed; a number too large for its C++ type throws std::out_of_range,
// which the parse functions turn into an error.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "artifact/artifacts.hpp"

namespace headroom::artifact {

using Json = nlohmann::ordered_json;

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

inline const Json& field(const Json& j, const char* key) {
  static const Json null;
  const auto at = j.find(key);
  return at == j.end() ? null : *at;
}

inline std::optional<double> number(const Json& j, const char* key) {
  const Json& v = field(j, key);
  return v.is_number() ? std::optional(v.get<double>()) : std::nullopt;
}

inline std::optional<int> whole(const Json& j, const char* key) {
  const auto v = number(j, key);
  if (!v) return std::nullopt;
  if (*v < std::numeric_limits<int>::min() || *v > std::numeric_limits<int>::max())
    throw std::out_of_range(key);
  return static_cast<int>(*v);
}

inline std::optional<bool> boolean(const Json& j, const char* key) {
  const Json& v = field(j, key);
  return v.is_boolean() ? std::optional(v.get<bool>()) : std::nullopt;
}

inline std::optional<std::string> maybe_text(const Json& j, const char* key) {
  const Json& v = field(j, key);
  return v.is_string() ? std::optional(v.get<std::string>()) : std::nullopt;
}

inline std::string text(const Json& j, const char* key) { return maybe_text(j, key).value_or(""); }

// Header and shared parts (header_json.cpp).
void put_header(Json& j, const char* schema, const Header& header);
Header get_header(const Json& j);
void put_counts(Json& j, const capacity::Counts& counts);
std::optional<capacity::Counts> get_counts(const Json& j);
// Plan and policy parts (policy_json.cpp).
Json policy_json(const capacity::Policy& policy);
capacity::Policy get_policy(const Json& j);

// Checks schema, balance of counts and that every number is finite, then renders (document.cpp).
base::Result<std::string> render(const Json& j, const char* schema);
// The file's text; a missing one is named with the command that writes it (document.cpp).
base::Result<std::string> read_artifact_file(const std::string& path, const char* schema);
// Parses, checks schema name, version, schema, counts (document.cpp).
base::Result<Json> load(const std::string& text, const std::string& name, const char* schema);
// Runs `read`, turning what JSON access throws into an error.
template <class F>
auto guarded_read(const std::string& name, F&& read) -> base::Result<decltype(read())> {
  try {
    return read();
  } catch (const std::exception& e) {
    return base::fail(base::ErrorCode::kInvalidData, name + ": a value does not fit its field: " + e.what());
  }
}

}  // namespace headroom::artifact
