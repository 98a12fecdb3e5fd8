// The JSON objects that tell a client how a request goes, shared by SSE and the WebSocket; and base64.
//
// Pure. Text that is not UTF-8 is replaced, never fatal.
#pragma once

#include <string>
#include <string_view>

#include "serve/speech_sink.hpp"

namespace headroom::serve {

std::string start_json(const SpeechStart& start, std::string_view request_id);
std::string complete_json(const SpeechSummary& summary, std::string_view request_id);
// The client asked for the end: nothing but that is said.
std::string cancelled_json(std::string_view request_id);
// `request_id` empty: it belongs to no request.
std::string error_json(const ApiFailure& failure, std::string_view request_id);

std::string base64(std::string_view bytes);

}  // namespace headroom::serve
