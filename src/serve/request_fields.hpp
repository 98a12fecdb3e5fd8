// The fields that requests of all routes share; internal to serve.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "serve/speech_request.hpp"

namespace headroom::serve {

// How one route names the fields and what it takes for granted.
struct FieldRules {
  const char* text = "text";
  const char* format = "format";
  std::string default_format = "wav";
  bool stream = false;          // what holds where the body does not say
  bool text_in_pieces = false;  // it follows later and need not be there
};

using FieldResult = tl::expected<void, ApiFailure>;

tl::expected<nlohmann::json, ApiFailure> parse_body(std::string_view body, std::string_view content_type);
// Everything but the voice.
FieldResult read_fields(const nlohmann::json& body, const FieldRules& rules, const RequestLimits& limits,
                        SpeechRequest& out);
FieldResult read_string(const nlohmann::json& body, const char* name, std::string& out, ApiError error);
FieldResult set_voice(const std::string& name, const std::vector<std::string>& voices, SpeechRequest& out);
tl::unexpected<ApiFailure> refuse(ApiError error, std::string message);
std::string shown(std::string_view text);              // short enough for a message
std::string shown_value(const nlohmann::json& value);  // a value of any depth

// A WebSocket's `{text, voice, speed, ...}`: raw samples, streamed, unless it says otherwise.
ParsedRequest read_session_request(const nlohmann::json& message, bool in_pieces, const RequestLimits& limits,
                                   const std::vector<std::string>& voices);

// What a WebSocket's `{type:"text", request_id, text, final, ...}` adds to its request.
struct TextPiece {
  std::string text;
  bool final = false;
};
tl::expected<TextPiece, ApiFailure> read_text_piece(const nlohmann::json& message);
bool is_blank(std::string_view text);  // nothing but white space

}  // namespace headroom::serve
