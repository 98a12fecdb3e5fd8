// The part of JSON Schema that our schemas use.
#include "artifact/schema_check.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headroom::artifact {
namespace {

using Json = nlohmann::ordered_json;

std::string escape(const std::string& key) {  // RFC 6901
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

bool is_whole(const Json& v) {
  if (v.is_number_integer()) return true;
  return v.is_number_float() && std::trunc(v.get<double>()) == v.get<double>() &&
         std::abs(v.get<double>()) < 1e15;
}

bool has_type(const Json& v, const std::string& type) {
  if (type == "object") return v.is_object();
  if (type == "array") return v.is_array();
  if (type == "string") return v.is_string();
  if (type == "boolean") return v.is_boolean();
  if (type == "null") return v.is_null();
  if (type == "integer") return is_whole(v);
  return type == "number" && v.is_number();
}

std::string describe_found(const Json& v) {
  if (v.is_object()) return "an object";
  if (v.is_array()) return fmt::format("a list of {}", v.size());
  std::string text = v.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string describe_type(const Json& type) {
  if (type.is_string()) return type.get<std::string>();
  std::string out;
  for (const Json& one : type) out += (out.empty() ? "" : " or ") + one.get<std::string>();
  return out;
}

using Problem = std::optional<SchemaProblem>;

Problem check(const Json& v, const Json& schema, const std::string& at);

Problem check_type(const Json& v, const Json& schema, const std::string& at) {
  if (const auto type = schema.find("type"); type != schema.end()) {
    bool fits = false;
    if (type->is_string()) {
      fits = has_type(v, type->get<std::string>());
    } else {
      for (const Json& one : *type) fits = fits || has_type(v, one.get<std::string>());
    }
    if (!fits) return SchemaProblem{at, describe_type(*type), describe_found(v)};
  }
  if (const auto allowed = schema.find("enum"); allowed != schema.end()) {
    for (const Json& one : *allowed) {
      if (one == v) return std::nullopt;
    }
    return SchemaProblem{at, "one of " + allowed->dump(), describe_found(v)};
  }
  return std::nullopt;
}

Problem check_number(const Json& v, const Json& schema, const std::string& at) {
  if (!v.is_number()) return std::nullopt;
  const double number = v.get<double>();
  if (const auto low = schema.find("minimum"); low != schema.end() && !(number >= low->get<double>()))
    return SchemaProblem{at, "at least " + low->dump(), describe_found(v)};
  if (const auto high = schema.find("maximum"); high != schema.end() && !(number <= high->get<double>()))
    return SchemaProblem{at, "at most " + high->dump(), describe_found(v)};
  return std::nullopt;
}

Problem check_array(const Json& v, const Json& schema, const std::string& at) {
  if (!v.is_array()) return std::nullopt;
  if (const auto low = schema.find("minItems"); low != schema.end() && v.size() < low->get<std::size_t>())
    return SchemaProblem{at, "at least " + low->dump() + " elements", describe_found(v)};
  if (const auto high = schema.find("maxItems"); high != schema.end() && v.size() > high->get<std::size_t>())
    return SchemaProblem{at, "at most " + high->dump() + " elements", describe_found(v)};
  if (const auto items = schema.find("items"); items != schema.end()) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (auto problem = check(v[i], *items, fmt::format("{}/{}", at, i))) return problem;
    }
  }
  return std::nullopt;
}

Problem check_object(const Json& v, const Json& schema, const std::string& at) {
  if (!v.is_object()) return std::nullopt;
  if (const auto required = schema.find("required"); required != schema.end()) {
    for (const Json& key : *required) {
      const auto name = key.get<std::string>();
      if (!v.contains(name)) return SchemaProblem{at + "/" + escape(name), "this key", "nothing"};
    }
  }
  const auto properties = schema.find("properties");
  const auto additional = schema.find("additionalProperties");
  for (const auto& [key, value] : v.items()) {
    const std::string where = at + "/" + escape(key);
    if (properties != schema.end() && properties->contains(key)) {
      if (auto problem = check(value, (*properties)[key], where)) return problem;
    } else if (additional != schema.end() && additional->is_boolean() && !additional->get<bool>()) {
      return SchemaProblem{where, "no such key", describe_found(value)};
    } else if (additional != schema.end() && additional->is_object()) {
      if (auto problem = check(value, *additional, where)) return problem;
    }
  }
  return std::nullopt;
}

Problem check(const Json& v, const Json& schema, const std::string& at) {
  if (auto problem = check_type(v, schema, at)) return problem;
  if (auto problem = check_number(v, schema, at)) return problem;
  if (auto problem = check_array(v, schema, at)) return problem;
  return check_object(v, schema, at);
}

}  // namespace

std::optional<SchemaProblem> check_schema(const Json& value, const Json& schema) {
  return check(value, schema, "");
}

std::vector<std::string> unknown_keywords(const Json& schema) {
  static const std::set<std::string> known{"$schema", "$id",      "title",      "description",
                                           "type",    "required", "properties", "additionalProperties",
                                           "items",   "enum",     "minItems",   "maxItems",
                                           "minimum", "maximum"};
  std::vector<std::string> unknown;
  const auto descend = [&](const Json& inner) {
    const auto more = unknown_keywords(inner);
    unknown.insert(unknown.end(), more.begin(), more.end());
  };
  for (const auto& [key, value] : schema.items()) {
    if (!known.count(key)) unknown.push_back(key);
    if (key == "properties") {
      for (const auto& [name, inner] : value.items()) descend(inner);
    } else if ((key == "items" || key == "additionalProperties") && value.is_object()) {
      descend(value);
    }
  }
  return unknown;
}

}  // namespace headroom::artifact
