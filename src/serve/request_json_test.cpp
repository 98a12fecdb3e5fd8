// What is refused before the parser sees it.
#include "serve/request_json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace headroom::serve {
namespace {

using testing::HasSubstr;

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string nested(std::size_t depth) { return "{\"a\":" + repeat("[", depth) + repeat("]", depth) + "}"; }

void expect_refused(const std::string& text, std::string_view why) {
  const auto parsed = parse_object(text, "a message");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().error, ApiError::kInvalidJson);
  EXPECT_THAT(parsed.error().message, HasSubstr(why));
}

}  // namespace

TEST(RequestJson, TakesWhatARequestLooksLike) {
  EXPECT_TRUE(
      parse_object(R"({"text":"[[[ \"{{{\" ,,,","normalise":{"url":false},"extra":[1,2,[3]]})", "a message"));
  EXPECT_TRUE(parse_object("{\"text\":\"" + repeat("[,:{\\\"", 50'000) + "\"}", "a message"));
}

TEST(RequestJson, RefusesDeepNestingWithoutParsingIt) {
  EXPECT_TRUE(parse_object(nested(kMostJsonDepth - 1), "a message"));
  expect_refused(nested(kMostJsonDepth), "nests deeper than 16");
  expect_refused(repeat("[", 500'000), "nests deeper than 16");
  expect_refused("{\"a\":" + repeat("{\"a\":", 100'000), "nests deeper than 16");
}

TEST(RequestJson, RefusesManyValuesWithoutParsingThem) {
  expect_refused("{\"a\":[" + repeat("0,", 400'000) + "0]}", "more than 1000 values");
  expect_refused("{\"a\":[" + repeat("[],", 300'000) + "0]}", "more than 1000 values");
}

TEST(RequestJson, NamesWhatIsNoObject) {
  expect_refused("", "not valid JSON");
  expect_refused("{\"text\":\"", "not valid JSON");
  expect_refused("{\"text\":\"\\", "not valid JSON");
  expect_refused("]]}}", "not valid JSON");
  expect_refused("[]", "must be a JSON object");
}

}  // namespace headroom::serve
