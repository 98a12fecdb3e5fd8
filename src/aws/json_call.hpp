// Internal to src/aws: one JSON operation through a Transport, and safe reading of its answer.
//
// Reading never throws: a field of the wrong type reads as missing. Times are epoch seconds with fraction
// (JSON 1.0 and 1.1). Included by .cpp files only, since it brings the JSON library with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

using nlohmann::json;

struct JsonCall {
  Service service;
  std::string operation;
  std::string resource;
  base::Deadline deadline;
  bool repeatable = true;
};

// kInvalidData if the answer is not a JSON object.
base::Result<json> call(Transport& transport, const JsonCall& what, const json& body);

// Calls until the answer has no `token_out`; `page` reads one answer. Stops at a token that repeats, or after
// 1,000 pages.
template <class Page>
base::Result<void> call_pages(Transport& transport, const JsonCall& what, json body, const char* token_in,
                              const char* token_out, Page page) {
  std::string last;
  for (int pages = 0; pages < 1000; ++pages) {
    auto answer = call(transport, what, body);
    if (!answer) return tl::unexpected(answer.error());
    page(*answer);
    const auto token = answer->find(token_out);
    if (token == answer->end() || !token->is_string()) return {};
    std::string next = token->get<std::string>();
    if (next.empty() || next == last) return {};
    body[token_in] = next;
    last = std::move(next);
  }
  return base::fail(base::ErrorCode::kInvalidData, what.operation + ": over 1,000 pages; narrow the request");
}

std::string text_of(const json& object, const char* key);  // "" if missing
std::optional<double> number_of(const json& object, const char* key);
std::optional<int> int_of(const json& object, const char* key);
std::optional<bool> bool_of(const json& object, const char* key);
std::optional<base::WallTime> time_of(const json& object, const char* key);  // seconds
std::optional<base::WallTime> millis_of(const json& object, const char* key);
const json& list_of(const json& object, const char* key);    // an empty array if missing
const json& object_of(const json& object, const char* key);  // an empty object if missing
std::vector<std::string> strings_of(const json& object, const char* key);

double epoch_seconds(base::WallTime time);
std::int64_t epoch_millis(base::WallTime time);

template <class T>
void set_if(json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}
inline void set_if(json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

}  // namespace headroom::aws
