// OpenAI's speech request, and the lists that OpenAI-compatible servers give.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "serve/openai_names.hpp"
#include "serve/request_fields.hpp"

namespace headroom::serve {
namespace {

using nlohmann::json;
constexpr int kModelCreated = 1737936000;  // Kokoro-82M v1.0, 27 January 2025

FieldResult check_model(const json& body) {
  std::string model{kOpenAiModels.front()};
  if (auto done = read_string(body, "model", model, ApiError::kInvalidField); !done) return done;
  if (std::find(kOpenAiModels.begin(), kOpenAiModels.end(), model) != kOpenAiModels.end()) return {};
  return refuse(ApiError::kNotFound, fmt::format("model '{}' is unknown; use one of {}", shown(model),
                                                 fmt::join(kOpenAiModels, ", ")));
}

// A name, or {"id": name} as newer clients send it.
FieldResult read_voice(const json& body, const std::vector<std::string>& voices, SpeechRequest& out) {
  std::string name{"alloy"};
  const auto it = body.find("voice");
  const bool object = it != body.end() && it->is_object();
  if (auto done = read_string(object ? *it : body, object ? "id" : "voice", name, ApiError::kUnknownVoice);
      !done)
    return done;
  auto done = set_voice(voice_of_alias(name, voices).value_or(name), voices, out);
  if (done) out.voice_name = name;
  return done;
}

json model_object(std::string_view id) {
  return {{"id", id}, {"object", "model"}, {"created", kModelCreated}, {"owned_by", "headroom"}};
}

}  // namespace

std::optional<std::string> voice_of_alias(std::string_view name, const std::vector<std::string>& voices) {
  for (const VoiceAlias& row : kVoiceAliases) {
    if (row.alias != name) continue;
    for (const auto voice : row.voices) {
      if (std::binary_search(voices.begin(), voices.end(), voice)) return std::string(voice);
    }
  }
  return std::nullopt;
}

ParsedRequest parse_openai_request(std::string_view body, std::string_view content_type,
                                   const RequestLimits& limits, const std::vector<std::string>& voices) {
  const auto parsed = parse_body(body, content_type);
  if (!parsed) return tl::unexpected(parsed.error());
  SpeechRequest request;
  std::string stream_format = "audio";
  const FieldRules rules{
      .text = "input", .format = "response_format", .default_format = "mp3", .stream = true};
  auto done = check_model(*parsed)
                  .and_then([&] { return read_fields(*parsed, rules, limits, request); })
                  .and_then([&] { return read_voice(*parsed, voices, request); })
                  .and_then([&] {
                    return read_string(*parsed, "stream_format", stream_format, ApiError::kInvalidField);
                  });
  if (!done) return tl::unexpected(done.error());
  if (stream_format != "audio" && stream_format != "sse") {
    return refuse(ApiError::kInvalidField,
                  fmt::format("stream_format '{}' is not offered; use audio or sse", shown(stream_format)));
  }
  request.sse = stream_format == "sse";
  request.stream = true;
  return request;
}

std::string models_json() {
  json data = json::array();
  for (const auto id : kOpenAiModels) data.push_back(model_object(id));
  return json{{"object", "list"}, {"data", data}}.dump();
}

std::optional<std::string> model_json(std::string_view id) {
  if (std::find(kOpenAiModels.begin(), kOpenAiModels.end(), id) == kOpenAiModels.end()) return std::nullopt;
  return model_object(id).dump();
}

std::string voices_json(const std::vector<std::string>& voices) {
  json aliases = json::object();
  for (const VoiceAlias& row : kVoiceAliases) {
    if (const auto voice = voice_of_alias(row.alias, voices)) aliases[std::string(row.alias)] = *voice;
  }
  return json{{"voices", voices}, {"aliases", aliases}}.dump();
}

}  // namespace headroom::serve
