// What is read from and said to clients: OpenAI's fields, access, events, embedded metrics. Pure.
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "serve/access.hpp"
#include "serve/emf.hpp"
#include "serve/openai_names.hpp"
#include "serve/request_fields.hpp"
#include "serve/speech_json.hpp"

namespace headroom::serve {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> kVoices{"af_bella", "af_heart", "am_adam", "bf_emma", "bm_george"};

ParsedRequest openai(std::string_view body) {
  return parse_openai_request(body, "application/json", {.max_characters = 20}, kVoices);
}

net::Request with(net::Headers headers) {
  net::Request request;
  request.headers = std::move(headers);
  return request;
}

}  // namespace

TEST(OpenAiRequest, TakesItsOwnNamesAndDefaults) {
  const auto parsed = openai(R"({"model":"tts-1","input":"Hi.","voice":"onyx","instructions":"calm"})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->voice_name, "onyx");
  EXPECT_EQ(parsed->voice.front().name, "am_adam");  // the second choice: this model has no am_onyx
  EXPECT_EQ(parsed->format, audio::Format::kMp3);
  EXPECT_TRUE(parsed->stream);
  EXPECT_FALSE(parsed->sse);
  EXPECT_TRUE(openai(R"({"input":"Hi.","voice":{"id":"af_bella"}})"));
  EXPECT_TRUE(openai(R"({"input":"Hi.","stream_format":"sse"})")->sse);
}

TEST(OpenAiRequest, NamesWhatItRefuses) {
  EXPECT_EQ(openai(R"({"text":"Hi."})").error().error, ApiError::kMissingText);
  EXPECT_THAT(openai(R"({"input":""})").error().message, HasSubstr("'input'"));
  EXPECT_EQ(openai(R"({"input":"Hi.","model":"whisper-1"})").error().error, ApiError::kNotFound);
  EXPECT_EQ(openai(R"({"input":"Hi.","voice":"nobody"})").error().error, ApiError::kUnknownVoice);
  EXPECT_EQ(openai(R"({"input":"Hi.","voice":{"id":7}})").error().error, ApiError::kUnknownVoice);
  EXPECT_EQ(openai(R"({"input":"Hi.","response_format":"ogg"})").error().error, ApiError::kUnsupportedFormat);
}

TEST(OpenAiNames, EveryAliasLeadsToAVoiceTheModelHas) {
  for (const VoiceAlias& row : kVoiceAliases) EXPECT_TRUE(voice_of_alias(row.alias, kVoices)) << row.alias;
  EXPECT_FALSE(voice_of_alias("af_heart", kVoices));
  EXPECT_EQ(json::parse(voices_json(kVoices))["aliases"]["fable"], "bm_george");
  EXPECT_FALSE(model_json("../etc"));
}

TEST(RequestFields, DeepNestingIsShownByItsTypeOnly) {
  const std::string deep = std::string(20'000, '[') + std::string(20'000, ']');
  for (const char* field : {"speed", "sample_rate", "voice", "text", "stream", "lang", "normalise"}) {
    const auto parsed = parse_speech_request(std::string(R"({"text":"Hi.",")") + field + "\":" + deep + "}",
                                             "", {.max_characters = 20}, kVoices);
    ASSERT_FALSE(parsed) << field;
    EXPECT_LT(parsed.error().message.size(), 200U);
  }
}

TEST(RequestFields, KindsOfNormalisingAreSwitchedOffByName) {
  const auto kinds = [](std::string_view value) {
    return parse_speech_request(std::string(R"({"text":"Hi.","normalise":)") + std::string(value) + "}", "",
                                {.max_characters = 20}, kVoices);
  };
  EXPECT_TRUE(kinds("true")->normalise.has(text::NormaliseKind::kUrl));
  EXPECT_FALSE(kinds("false")->normalise.has(text::NormaliseKind::kMoney));
  const auto some = kinds(R"({"url":false})");
  ASSERT_TRUE(some);
  EXPECT_FALSE(some->normalise.has(text::NormaliseKind::kUrl));
  EXPECT_TRUE(some->normalise.has(text::NormaliseKind::kMoney));
  EXPECT_EQ(kinds(R"({"smell":false})").error().error, ApiError::kInvalidField);
  EXPECT_EQ(kinds(R"({"url":1})").error().error, ApiError::kInvalidField);
}

TEST(ApiKeys, AreReadFromAFileAndAskedForInTwoHeaders) {
  const std::string file = testing::TempDir() + "keys_" + std::to_string(::getpid());
  std::ofstream(file) << "# comment\n\none\r\ntwo\n";
  const auto keys = ApiKeys::read(file);
  ASSERT_TRUE(keys);
  EXPECT_TRUE(keys->allow(with({{"Authorization", "Bearer one"}})));
  EXPECT_TRUE(keys->allow(with({{"X-Api-Key", "two"}})));
  for (const auto& headers :
       {net::Headers{}, net::Headers{{"x-api-key", ""}}, net::Headers{{"x-api-key", "# comment"}},
        net::Headers{{"authorization", "Bearer "}}, net::Headers{{"authorization", "one"}}}) {
    EXPECT_FALSE(keys->allow(with(headers)));
  }
  EXPECT_TRUE(ApiKeys().allow(with({})));
  std::remove(file.c_str());
}

TEST(Cors, LetsListedOriginsReadAndForeignPagesOpenNoSocket) {
  const Cors cors({"https://app.example"});
  net::Headers answer;
  cors.decorate(with({{"origin", "https://app.example"}}), answer);
  EXPECT_EQ(answer.get("access-control-allow-origin"), "https://app.example");
  net::Headers other;
  cors.decorate(with({{"origin", "https://evil.example"}}), other);
  EXPECT_FALSE(other.find("access-control-allow-origin"));
  EXPECT_EQ(other.get("vary"), "Origin");
  const Cors off;
  EXPECT_TRUE(off.allows_websocket(with({})));
  EXPECT_TRUE(off.allows_websocket(with({{"origin", "http://here:80"}, {"host", "here:80"}})));
  EXPECT_FALSE(off.allows_websocket(with({{"origin", "http://there"}, {"host", "here:80"}})));
  EXPECT_TRUE(Cors({"*"}).allows_websocket(with({{"origin", "http://there"}, {"host", "here:80"}})));
}

TEST(Cors, PreflightAllowsWhatIsAskedForAndRepeatsNothingElse) {
  const Cors cors({"https://app.example"});
  const auto allowed = [&](std::string origin, std::string names) {
    const auto answer = cors.preflight(
        with({{"origin", std::move(origin)}, {"access-control-request-headers", std::move(names)}}));
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.headers.get("vary"), "Access-Control-Request-Headers");
    return std::string(answer.headers.get("access-control-allow-headers"));
  };
  EXPECT_EQ(allowed("https://app.example", "authorization,x-stainless-os"), "authorization,x-stainless-os");
  for (const char* names : {"", "a\x01", "a: b", "<b>"})
    EXPECT_EQ(allowed("https://app.example", names), "authorization, content-type, x-api-key, x-request-id");
  EXPECT_EQ(allowed("https://evil.example", "x-stainless-os"), "");
}

TEST(Emf, DeclaresEachMetricAtOneSecondAndLeavesOutUnknownDimensions) {
  const base::WallTime at{std::chrono::milliseconds(1'800'000'000'123)};
  const json line = json::parse(emf_line({7, 5, 3, 1.23456}, {"speech", "AllTraffic"}, at));
  EXPECT_EQ(line["_aws"]["Timestamp"], 1'800'000'000'123);
  const json& declared = line["_aws"]["CloudWatchMetrics"][0];
  EXPECT_EQ(declared["Namespace"], "Headroom");
  EXPECT_EQ(declared["Dimensions"], json::parse(R"([["EndpointName","VariantName"]])"));
  for (const json& metric : declared["Metrics"]) {
    EXPECT_EQ(metric["StorageResolution"], 1);
    EXPECT_TRUE(line.contains(metric["Name"].get<std::string>()));
  }
  EXPECT_EQ(line["OfferedRequests"], 7);
  EXPECT_EQ(line["OutstandingAverage"], 1.235);
  const json fast = json::parse(emf_line({7, 5, 3, 1.5}, {}, at, 10));
  EXPECT_EQ(fast["OfferedRequests"], 70);  // counts grow, levels stay
  EXPECT_EQ(fast["AcceptedRequests"], 50);
  EXPECT_EQ(fast["OutstandingMaximum"], 3);
  EXPECT_EQ(fast["OutstandingAverage"], 1.5);
  const json bare = json::parse(emf_line({}, {}, at));
  EXPECT_EQ(bare["_aws"]["CloudWatchMetrics"][0]["Dimensions"], json::parse("[[]]"));
  EXPECT_FALSE(bare.contains("EndpointName"));
}

TEST(SpeechJson, SaysNothingInternalAndSurvivesBadUtf8) {
  const json error = json::parse(error_json({ApiError::kInternal, "secret"}, "id"));
  EXPECT_EQ(error["error"]["code"], "internal");
  EXPECT_EQ(error["request_id"], "id");
  EXPECT_EQ(error.dump().find("secret"), std::string::npos);
  EXPECT_TRUE(json::parse(error_json({ApiError::kInvalidJson, "x"}, ""))["request_id"].is_null());
  SpeechSummary summary;
  summary.phonemes = "\xff";
  EXPECT_TRUE(json::accept(complete_json(summary, "\xfe")));
}

TEST(Base64, FollowsTheTestVectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace headroom::serve
