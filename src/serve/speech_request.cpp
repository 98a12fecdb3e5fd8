// Field by field, each refusal with its own code and a remedy.
#include "serve/speech_request.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audio/resampler.hpp"
#include "net/http.hpp"

namespace headroom::serve {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxVoiceParts = 8;

tl::unexpected<ApiFailure> refuse(ApiError error, std::string message) {
  return tl::unexpected(ApiFailure{error, std::move(message)});
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 64)); }

bool acceptable_content_type(std::string_view type) {
  const auto essence = type.substr(0, type.find(';'));
  const auto end = essence.find_last_not_of(" \t");
  const auto trimmed = end == std::string_view::npos ? std::string_view{} : essence.substr(0, end + 1);
  return trimmed.empty() || net::iequals(trimmed, "application/json");
}

// A field of the wrong type is refused by name rather than taken for its default.
tl::expected<void, ApiFailure> read_string(const json& body, const char* name, std::string& out,
                                           ApiError error) {
  const auto it = body.find(name);
  if (it == body.end() || it->is_null()) return {};
  if (!it->is_string()) return refuse(error, fmt::format("'{}' must be a string", name));
  out = it->get<std::string>();
  return {};
}

tl::expected<void, ApiFailure> read_text(const json& body, SpeechRequest& out, const RequestLimits& limits) {
  const auto it = body.find("text");
  if (it == body.end() || it->is_null())
    return refuse(ApiError::kMissingText, "the body has no 'text'; send {\"text\": \"...\"}");
  if (!it->is_string()) return refuse(ApiError::kMissingText, "'text' must be a string");
  out.text = it->get<std::string>();
  if (out.text.empty()) return refuse(ApiError::kMissingText, "'text' is empty; send at least one word");
  out.characters = count_characters(out.text);
  if (out.characters > limits.max_characters) {
    return refuse(ApiError::kTextTooLong,
                  fmt::format("'text' has {} characters and the limit is {}; send it in parts",
                              out.characters, limits.max_characters));
  }
  return {};
}

tl::expected<void, ApiFailure> read_audio_fields(const json& body, SpeechRequest& out) {
  std::string name = "wav";
  if (auto done = read_string(body, "format", name, ApiError::kUnsupportedFormat); !done) return done;
  const auto format = audio::parse_format(name).and_then(audio::check_offered);
  if (!format) return refuse(ApiError::kUnsupportedFormat, format.error().message);
  out.format = *format;
  if (const auto rate = body.find("sample_rate"); rate != body.end() && !rate->is_null()) {
    const auto value = audio::check_sample_rate(rate->is_number_integer() ? rate->get<std::int64_t>() : -1);
    if (!value) {
      return refuse(ApiError::kUnsupportedSampleRate,
                    fmt::format("sample_rate {} is not offered; use one of {}", shown(rate->dump()),
                                fmt::join(audio::kSampleRates, ", ")));
    }
    out.sample_rate = *value;
  }
  if (const auto speed = body.find("speed"); speed != body.end() && !speed->is_null()) {
    const double value = speed->is_number() ? speed->get<double>() : NAN;
    if (!(value >= 0.25 && value <= 4.0)) {
      return refuse(ApiError::kInvalidSpeed,
                    fmt::format("speed {} is outside 0.25 to 4", shown(speed->dump())));
    }
    out.speed = static_cast<float>(value);
  }
  if (const auto stream = body.find("stream"); stream != body.end() && !stream->is_null()) {
    if (!stream->is_boolean()) return refuse(ApiError::kInvalidField, "'stream' must be true or false");
    out.stream = stream->get<bool>();
  }
  std::string transport = "binary";
  if (auto done = read_string(body, "transport", transport, ApiError::kInvalidField); !done) return done;
  if (transport != "binary") {
    return refuse(ApiError::kInvalidField,
                  fmt::format("transport '{}' is not offered; use binary", shown(transport)));
  }
  return {};
}

}  // namespace

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

tl::expected<engine::Voice, ApiFailure> parse_voice(std::string_view text,
                                                    const std::vector<std::string>& voices) {
  engine::Voice voice;
  const auto unknown = [&](std::string_view part) {
    return refuse(
        ApiError::kUnknownVoice,
        fmt::format(
            "voice '{}' is unknown; use a voice such as af_heart, or a blend such as af_heart(2)+af_bella(1)",
            shown(part)));
  };
  while (true) {
    const auto plus = text.find('+');
    std::string_view part = text.substr(0, plus);
    float weight = 1.0F;
    if (const auto open = part.find('('); open != std::string_view::npos) {
      if (part.back() != ')') return unknown(part);
      const auto number = part.substr(open + 1, part.size() - open - 2);
      const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
      if (error != std::errc{} || end != number.data() + number.size() ||
          !(weight > 0.0F && weight <= 1000.0F))
        return unknown(part);
      part = part.substr(0, open);
    }
    if (!std::binary_search(voices.begin(), voices.end(), part)) return unknown(part);
    voice.push_back({std::string(part), weight});
    if (voice.size() > kMaxVoiceParts) return refuse(ApiError::kUnknownVoice, "a blend has at most 8 voices");
    if (plus == std::string_view::npos) return voice;
    text.remove_prefix(plus + 1);
  }
}

ParsedRequest parse_speech_request(std::string_view body, std::string_view content_type,
                                   const RequestLimits& limits, const std::vector<std::string>& voices) {
  if (!acceptable_content_type(content_type)) {
    return refuse(
        ApiError::kUnsupportedMediaType,
        fmt::format("content type '{}' is not offered; send application/json", shown(content_type)));
  }
  const json parsed = json::parse(body, nullptr, false);
  if (parsed.is_discarded())
    return refuse(ApiError::kInvalidJson, "the body is not valid JSON in UTF-8; send {\"text\": \"...\"}");
  if (!parsed.is_object())
    return refuse(ApiError::kInvalidJson, "the body must be a JSON object such as {\"text\": \"...\"}");
  SpeechRequest request;
  if (auto done = read_text(parsed, request, limits); !done) return tl::unexpected(done.error());
  if (auto done = read_audio_fields(parsed, request); !done) return tl::unexpected(done.error());
  request.voice_name = "af_heart";
  if (auto done = read_string(parsed, "voice", request.voice_name, ApiError::kUnknownVoice); !done)
    return tl::unexpected(done.error());
  auto voice = parse_voice(request.voice_name, voices);
  if (!voice) return tl::unexpected(voice.error());
  request.voice = std::move(*voice);
  if (auto done = read_string(parsed, "lang", request.lang, ApiError::kUnsupportedLanguage); !done)
    return tl::unexpected(done.error());
  return request;
}

}  // namespace headroom::serve
