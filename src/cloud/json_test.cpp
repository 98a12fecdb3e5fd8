// Fields: members in all spellings, and what a wrong one is called.
#include "cloud/json.hpp"

#include <gtest/gtest.h>

namespace headroom::cloud {
namespace {

TEST(Fields, NamesTheMissingMember) {
  const Json body = Json::object();
  Fields fields(body, "outer.");
  fields.text("EndpointName");
  ASSERT_FALSE(fields.ok());
  EXPECT_NE(fields.failure().value().message.find("'outer.EndpointName'"), std::string::npos);
}

TEST(Fields, KeepsTheFirstFault) {
  const Json body{{"b", 1}};
  Fields fields(body);
  fields.text("a");
  fields.text("b");
  EXPECT_NE(fields.failure().value().message.find("'a'"), std::string::npos);
}

TEST(Fields, TakesNumbersFlagsAndTimesAsText) {
  const Json body{{"n", "2.5"}, {"f", "true"}, {"t", "2026-11-29T15:00:00Z"}, {"u", 1'800'000'000.25}};
  Fields fields(body);
  EXPECT_EQ(fields.number("n"), 2.5);
  EXPECT_EQ(fields.maybe_flag("f"), true);
  EXPECT_EQ(epoch_seconds(fields.time("t")), 1795964400);
  EXPECT_EQ(epoch_ms(fields.time("u")), 1'800'000'000'250);
  EXPECT_TRUE(fields.ok());
}

TEST(Fields, RefusesFractionsAndValuesOutOfRangeForIntegers) {
  for (const Json& value : {Json(1.5), Json(0), Json(11), Json("x"), Json(true)}) {
    const Json body{{"n", value}};
    Fields fields(body);
    fields.integer("n", 1, 10);
    EXPECT_FALSE(fields.ok()) << value;
  }
}

TEST(Fields, RefusesHostileNames) {
  for (const char* name : {"../x", "a/b", "-a", "a-", "a b", "a\n", "ä",
                           "0123456789012345678901234567890123456789012345678901234567890123"}) {
    const Json body{{"EndpointName", name}};
    Fields fields(body);
    EXPECT_EQ(fields.name("EndpointName"), "");
    EXPECT_FALSE(fields.ok()) << name;
  }
}

TEST(Paginate, WalksAListInPages) {
  auto page = paginate(5, 2, std::nullopt);
  EXPECT_EQ(page->end, 2U);
  page = paginate(5, 2, page->next_token);
  page = paginate(5, 2, page->next_token);
  EXPECT_EQ(page->begin, 4U);
  EXPECT_EQ(page->next_token, "");
  EXPECT_FALSE(paginate(5, 2, "x"));
}

TEST(ParseObject, TakesOnlyObjects) {
  for (const char* text : {"[]", "1", "{", "{}x"}) EXPECT_FALSE(parse_object(text)) << text;
  EXPECT_TRUE(parse_object(""));
  EXPECT_FALSE(parse_object(std::string(1'000'000, '[')));
}

TEST(TypedMembers, NullsAreNotThereAndTextsAreNoNumbers) {
  EXPECT_EQ(*typed_members(Json::parse(R"({"a":null,"b":[{"Cooldown":60,"c":null}]})")),
            Json::parse(R"({"b":[{"Cooldown":60}]})"));
  for (const char* text : {R"({"Cooldown":"60"})", R"({"x":[{"ReturnData":"true"}]})",
                           R"({"DeploymentConfig":{"TerminationWaitInSeconds":"30"}})"}) {
    const auto refused = typed_members(Json::parse(text));
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().context, "SerializationException");
  }
  // A user's own names mean nothing to AWS.
  EXPECT_TRUE(typed_members(Json::parse(R"({"PrimaryContainer":{"Environment":{"Period":"5"}}})")));
}

}  // namespace
}  // namespace headroom::cloud
