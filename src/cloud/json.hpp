// Json and Fields: reading a request's members with a check on each, first fault kept.
//
// Members may come as JSON, as CBOR or as text of a query form, so numbers, flags and times are taken in all
// three spellings. A reader never throws: after the first fault every getter returns an empty value and
// `failure()` says what was wrong with which member (AWS: "Value ... at '...' failed to satisfy constraint").
// Unknown members are ignored, as AWS does. Single threaded. Errors: kInvalidArgument.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::cloud {

using Json = nlohmann::json;

class Fields {
 public:
  explicit Fields(const Json& body, std::string path = {}) : body_(body), path_(std::move(path)) {}

  bool has(std::string_view key) const;
  std::string text(std::string_view key, std::size_t max_length = 2048);  // required, 1..max_length
  std::string name(std::string_view key);  // required, SageMaker's name pattern
  using Choices = std::span<const std::string_view>;
  std::string choice(std::string_view key, Choices allowed);
  std::string choice(std::string_view key, std::initializer_list<std::string_view> allowed) {
    return choice(key, Choices(allowed.begin(), allowed.size()));
  }
  double number(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  base::WallTime time(std::string_view key);
  const Json& list(std::string_view key);    // required array
  const Json& object(std::string_view key);  // required object

  std::optional<std::string> maybe_text(std::string_view key, std::size_t max_length = 2048);
  std::optional<std::string> maybe_choice(std::string_view key, Choices allowed);
  std::optional<std::string> maybe_choice(std::string_view key,
                                          std::initializer_list<std::string_view> allowed) {
    return maybe_choice(key, Choices(allowed.begin(), allowed.size()));
  }
  std::optional<double> maybe_number(std::string_view key);
  std::optional<std::int64_t> maybe_integer(std::string_view key, std::int64_t low, std::int64_t high);
  std::optional<bool> maybe_flag(std::string_view key);
  std::optional<base::WallTime> maybe_time(std::string_view key);
  const Json& maybe_list(std::string_view key);  // an empty array if absent
  std::vector<std::string> texts(std::string_view key,
                                 std::size_t max_length = 2048);  // optional list of texts

  void refuse(std::string_view key, std::string_view constraint);  // a fault found by the caller
  void take(const Fields& inner);                                  // the fault of a nested reader
  bool ok() const { return fault_.empty(); }
  tl::unexpected<base::Error> failure() const;

 private:
  const Json* find(std::string_view key, bool required);

  const Json& body_;
  std::string path_;
  std::string fault_;
};

// Parses a body of at most a few MiB; kInvalidData for anything but an object (or an empty body).
base::Result<Json> parse_object(std::string_view text);
// What a body of a typed protocol (JSON, CBOR) means to AWS: a member that is null is not there, and a number
// or a flag that is written as text is refused (kInvalidData, SerializationException). The query protocol has
// texts only.
base::Result<Json> typed_members(Json body);
std::string dump(const Json& value);  // never throws: bytes that are not UTF-8 become U+FFFD

double epoch_seconds(base::WallTime time);
std::int64_t epoch_ms(base::WallTime time);
base::WallTime from_epoch_seconds(double seconds);

// Copies the members of `from` that exist into `to`.
void copy_members(const Json& from, Json& to, std::initializer_list<const char*> keys);

struct Page {
  std::size_t begin = 0, end = 0;
  std::string next_token;  // empty: the last page
};
// Tokens are offsets as text; kInvalidArgument for a token that is not one of ours.
base::Result<Page> paginate(std::size_t size, std::int64_t limit, const std::optional<std::string>& token);

}  // namespace headroom::cloud
