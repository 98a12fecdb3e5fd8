// Every refusal of SPEC 1.2 that a body can cause, and what is accepted.
#include "serve/speech_request.hpp"

#include <gtest/gtest.h>

namespace headroom::serve {
namespace {

const std::vector<std::string> kVoices{"af_bella", "af_heart", "bf_emma"};

ParsedRequest parse(std::string_view body, std::string_view type = "application/json") {
  return parse_speech_request(body, type, {.max_characters = 20}, kVoices);
}

ApiError error_of(std::string_view body, std::string_view type = "application/json") {
  const auto parsed = parse(body, type);
  EXPECT_FALSE(parsed) << body;
  return parsed ? ApiError::kInternal : parsed.error().error;
}

}  // namespace

TEST(SpeechRequest, TakesDefaultsFromNothingButText) {
  const auto parsed = parse(R"({"text":"Hello."})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->voice_name, "af_heart");
  EXPECT_EQ(parsed->sample_rate, 24000);
  EXPECT_FALSE(parsed->stream);
  EXPECT_EQ(parsed->characters, 6U);
}

TEST(SpeechRequest, RefusesWhatIsNotJson) {
  EXPECT_EQ(error_of(""), ApiError::kInvalidJson);
  EXPECT_EQ(error_of("{"), ApiError::kInvalidJson);
  EXPECT_EQ(error_of("[]"), ApiError::kInvalidJson);
  EXPECT_EQ(error_of("{\"text\":\"\xff\"}"), ApiError::kInvalidJson);
  EXPECT_EQ(error_of(R"({"text":"\ud800"})"), ApiError::kInvalidJson);
}

TEST(SpeechRequest, RefusesMissingAndLongText) {
  EXPECT_EQ(error_of("{}"), ApiError::kMissingText);
  EXPECT_EQ(error_of(R"({"text":7})"), ApiError::kMissingText);
  EXPECT_EQ(error_of(R"({"text":""})"), ApiError::kMissingText);
  EXPECT_EQ(error_of(R"({"text":"123456789012345678901"})"), ApiError::kTextTooLong);
  EXPECT_TRUE(parse(R"({"text":"éééééééééééééééééééé"})"));  // 20 characters in 40 bytes
}

TEST(SpeechRequest, NamesTheUnknownVoice) {
  const auto parsed = parse(R"({"text":"a","voice":"../../etc/passwd"})");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().error, ApiError::kUnknownVoice);
  EXPECT_NE(parsed.error().message.find("../../etc/passwd"), std::string::npos);
  for (const char* body :
       {R"j({"text":"a","voice":""})j", R"j({"text":"a","voice":"af_heart(0)"})j",
        R"j({"text":"a","voice":"af_heart("})j", R"j({"text":"a","voice":"af_heart+"})j"}) {
    EXPECT_EQ(error_of(body), ApiError::kUnknownVoice) << body;
  }
}

TEST(SpeechRequest, ReadsBlends) {
  const auto parsed = parse(R"j({"text":"a","voice":"af_heart(2)+af_bella(1)"})j");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->voice.size(), 2U);
  EXPECT_EQ(parsed->voice[0].name, "af_heart");
  EXPECT_FLOAT_EQ(parsed->voice[0].weight, 2.0F);
}

TEST(SpeechRequest, RefusesAVoiceThatGoesOnAndOn) {
  const std::string long_weight = "af_heart(1." + std::string(400, '0') + ")";
  EXPECT_EQ(error_of(R"({"text":"a","voice":")" + long_weight + R"("})"), ApiError::kUnknownVoice);
  EXPECT_TRUE(parse(R"j({"text":"a","voice":"af_heart(1.000000)+af_bella(2.000000)"})j"));
}

TEST(SpeechRequest, RefusesFormatsRatesAndSpeedsByName) {
  EXPECT_EQ(error_of(R"({"text":"a","format":"ogg"})"), ApiError::kUnsupportedFormat);
  EXPECT_EQ(error_of(R"({"text":"a","sample_rate":11025})"), ApiError::kUnsupportedSampleRate);
  EXPECT_EQ(error_of(R"({"text":"a","sample_rate":24000.5})"), ApiError::kUnsupportedSampleRate);
  EXPECT_EQ(error_of(R"({"text":"a","speed":0.2})"), ApiError::kInvalidSpeed);
  EXPECT_EQ(error_of(R"({"text":"a","speed":"fast"})"), ApiError::kInvalidSpeed);
  EXPECT_EQ(error_of(R"({"text":"a","stream":"yes"})"), ApiError::kInvalidField);
}

TEST(SpeechRequest, TakesJsonWithCharsetAndRefusesOtherTypes) {
  EXPECT_TRUE(parse(R"({"text":"a"})", "application/json; charset=utf-8"));
  EXPECT_TRUE(parse(R"({"text":"a"})", ""));
  EXPECT_EQ(error_of(R"({"text":"a"})", "text/xml"), ApiError::kUnsupportedMediaType);
}

}  // namespace headroom::serve
