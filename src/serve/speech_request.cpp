// Field by field, each refusal with its own code and a remedy.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audio/resampler.hpp"
#include "net/http.hpp"
#include "serve/request_fields.hpp"
#include "serve/request_json.hpp"

namespace headroom::serve {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxVoiceParts = 8;
constexpr std::size_t kMaxVoiceBytes = 256;  // each weight may have any number of digits, and it is logged
constexpr std::string_view kDefaultVoice = "af_heart";

bool acceptable_content_type(std::string_view type) {
  const auto essence = type.substr(0, type.find(';'));
  const auto end = essence.find_last_not_of(" \t");
  const auto trimmed = end == std::string_view::npos ? std::string_view{} : essence.substr(0, end + 1);
  return trimmed.empty() || net::iequals(trimmed, "application/json");
}

FieldResult read_text(const json& body, const FieldRules& rules, const RequestLimits& limits,
                      SpeechRequest& out) {
  const auto it = body.find(rules.text);
  if (it == body.end() || it->is_null()) {
    if (rules.text_in_pieces) return {};
    return refuse(ApiError::kMissingText,
                  fmt::format("the body has no '{0}'; send {{\"{0}\": \"...\"}}", rules.text));
  }
  if (!it->is_string())
    return refuse(ApiError::kMissingText, fmt::format("'{}' must be a string", rules.text));
  out.text = it->get<std::string>();
  if (out.text.empty() && !rules.text_in_pieces)
    return refuse(ApiError::kMissingText, fmt::format("'{}' is empty; send at least one word", rules.text));
  out.characters = count_characters(out.text);
  if (out.characters > limits.max_characters) {
    return refuse(ApiError::kTextTooLong,
                  fmt::format("'{}' has {} characters and the limit is {}; send it in parts", rules.text,
                              out.characters, limits.max_characters));
  }
  return {};
}

FieldResult read_format(const json& body, const FieldRules& rules, SpeechRequest& out) {
  std::string name = rules.default_format;
  if (auto done = read_string(body, rules.format, name, ApiError::kUnsupportedFormat); !done) return done;
  const auto format = audio::parse_format(name).and_then(audio::check_offered);
  if (!format) return refuse(ApiError::kUnsupportedFormat, format.error().message);
  out.format = *format;
  if (const auto rate = body.find("sample_rate"); rate != body.end() && !rate->is_null()) {
    const auto value = audio::check_sample_rate(rate->is_number_integer() ? rate->get<std::int64_t>() : -1);
    if (!value) {
      return refuse(ApiError::kUnsupportedSampleRate,
                    fmt::format("sample_rate {} is not offered; use one of {}", shown_value(*rate),
                                fmt::join(audio::kSampleRates, ", ")));
    }
    out.sample_rate = *value;
  }
  return {};
}

// true, false, or {"url": false, ...}.
FieldResult read_normalise(const json& body, text::NormaliseOptions& out) {
  const auto it = body.find("normalise");
  if (it == body.end() || it->is_null()) return {};
  if (it->is_boolean()) {
    if (!it->get<bool>()) out = text::NormaliseOptions::none();
    return {};
  }
  if (!it->is_object())
    return refuse(ApiError::kInvalidField, "'normalise' must be true, false or an object of kinds");
  for (const auto& [name, on] : it->items()) {
    const auto kind = text::parse_normalise_kind(name);
    if (!kind) return refuse(ApiError::kInvalidField, kind.error().message);
    if (!on.is_boolean())
      return refuse(ApiError::kInvalidField, fmt::format("'normalise.{}' must be true or false", name));
    out.set(*kind, on.get<bool>());
  }
  return {};
}

FieldResult read_manner(const json& body, const FieldRules& rules, SpeechRequest& out) {
  if (const auto speed = body.find("speed"); speed != body.end() && !speed->is_null()) {
    const double value = speed->is_number() ? speed->get<double>() : NAN;
    if (!(value >= 0.25 && value <= 4.0)) {
      return refuse(ApiError::kInvalidSpeed,
                    fmt::format("speed {} is outside 0.25 to 4", shown_value(*speed)));
    }
    out.speed = static_cast<float>(value);
  }
  out.stream = rules.stream;
  if (const auto stream = body.find("stream"); stream != body.end() && !stream->is_null()) {
    if (!stream->is_boolean()) return refuse(ApiError::kInvalidField, "'stream' must be true or false");
    out.stream = stream->get<bool>();
  }
  if (auto done = read_normalise(body, out.normalise); !done) return done;
  return read_string(body, "lang", out.lang, ApiError::kUnsupportedLanguage);
}

}  // namespace

tl::unexpected<ApiFailure> refuse(ApiError error, std::string message) {
  return tl::unexpected(ApiFailure{error, std::move(message)});
}

std::string shown(std::string_view text) { return std::string(text.substr(0, 64)); }

// dump() would walk down whatever a client nested.
std::string shown_value(const json& value) {
  return value.is_structured() ? value.type_name()
                               : shown(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// A field of the wrong type is refused by name rather than taken for its default.
FieldResult read_string(const json& body, const char* name, std::string& out, ApiError error) {
  const auto it = body.find(name);
  if (it == body.end() || it->is_null()) return {};
  if (!it->is_string()) return refuse(error, fmt::format("'{}' must be a string", name));
  out = it->get<std::string>();
  return {};
}

FieldResult read_fields(const json& body, const FieldRules& rules, const RequestLimits& limits,
                        SpeechRequest& out) {
  return read_text(body, rules, limits, out)
      .and_then([&] { return read_format(body, rules, out); })
      .and_then([&] { return read_manner(body, rules, out); });
}

FieldResult set_voice(const std::string& name, const std::vector<std::string>& voices, SpeechRequest& out) {
  if (name.size() > kMaxVoiceBytes) {
    return refuse(ApiError::kUnknownVoice,
                  fmt::format("the voice has {} bytes and the limit is {}; write the weights shorter",
                              name.size(), kMaxVoiceBytes));
  }
  auto voice = parse_voice(name, voices);
  if (!voice) return tl::unexpected(voice.error());
  out.voice_name = name;
  out.voice = std::move(*voice);
  return {};
}

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

tl::expected<json, ApiFailure> parse_body(std::string_view body, std::string_view content_type) {
  if (!acceptable_content_type(content_type)) {
    return refuse(
        ApiError::kUnsupportedMediaType,
        fmt::format("content type '{}' is not offered; send application/json", shown(content_type)));
  }
  return parse_object(body, "the body");
}

ParsedRequest parse_speech_request(std::string_view body, std::string_view content_type,
                                   const RequestLimits& limits, const std::vector<std::string>& voices) {
  const auto parsed = parse_body(body, content_type);
  if (!parsed) return tl::unexpected(parsed.error());
  SpeechRequest request;
  std::string voice{kDefaultVoice};
  std::string transport = "binary";
  auto done =
      read_fields(*parsed, {}, limits, request)
          .and_then([&] { return read_string(*parsed, "voice", voice, ApiError::kUnknownVoice); })
          .and_then([&] { return set_voice(voice, voices, request); })
          .and_then([&] { return read_string(*parsed, "transport", transport, ApiError::kInvalidField); });
  if (!done) return tl::unexpected(done.error());
  if (transport != "binary" && transport != "sse") {
    return refuse(ApiError::kInvalidField,
                  fmt::format("transport '{}' is not offered; use binary or sse", shown(transport)));
  }
  request.sse = transport == "sse";
  request.stream = request.stream || request.sse;
  return request;
}

ParsedRequest read_session_request(const json& message, bool in_pieces, const RequestLimits& limits,
                                   const std::vector<std::string>& voices) {
  SpeechRequest request;
  request.pieces = in_pieces;
  std::string voice{kDefaultVoice};
  const FieldRules rules{.default_format = "pcm", .stream = true, .text_in_pieces = in_pieces};
  auto done = read_fields(message, rules, limits, request)
                  .and_then([&] { return read_string(message, "voice", voice, ApiError::kUnknownVoice); })
                  .and_then([&] { return set_voice(voice, voices, request); });
  if (!done) return tl::unexpected(done.error());
  request.stream = true;  // a session always hears its audio as it comes
  return request;
}

tl::expected<TextPiece, ApiFailure> read_text_piece(const json& message) {
  TextPiece piece;
  if (auto done = read_string(message, "text", piece.text, ApiError::kMissingText); !done)
    return tl::unexpected(done.error());
  const auto final = message.find("final");
  if (final == message.end() || final->is_null()) return piece;
  if (!final->is_boolean()) return refuse(ApiError::kInvalidField, "'final' must be true or false");
  piece.final = final->get<bool>();
  return piece;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace headroom::serve
