// Fuzzes the JSON of every route: /invocations, OpenAI's and the WebSocket's messages. Whatever comes, a
// request that is taken keeps its limits, and a refusal has a short message that says nothing of the inside.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "serve/request_fields.hpp"
#include "serve/sentence_buffer.hpp"
#include "serve/speech_json.hpp"

namespace {

using namespace headroom::serve;

const std::vector<std::string> kVoices{"af_bella", "af_heart", "bf_emma"};
constexpr RequestLimits kLimits{.max_characters = 1000};

void check(const ParsedRequest& parsed, bool pieces) {
  if (!parsed) {
    if (parsed.error().message.empty() || parsed.error().message.size() > 1000) std::abort();
    if (!nlohmann::json::accept(error_json(parsed.error(), "id"))) std::abort();
    return;
  }
  if (parsed->text.empty() != (pieces && parsed->characters == 0)) std::abort();
  if (parsed->characters > kLimits.max_characters || parsed->voice.empty()) std::abort();
  if (!(parsed->speed >= 0.25F && parsed->speed <= 4.0F)) std::abort();
  for (const auto& part : parsed->voice) {
    if (!(part.weight > 0.0F) || !std::isfinite(part.weight)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  check(parse_speech_request(body, "application/json", kLimits, kVoices), false);
  check(parse_openai_request(body, "", kLimits, kVoices), false);
  (void)parse_speech_request("{}", body, kLimits, kVoices);
  (void)parse_voice(body, kVoices);
  const auto message = nlohmann::json::parse(body, nullptr, false);
  if (message.is_object()) {
    check(read_session_request(message, false, kLimits, kVoices), false);
    check(read_session_request(message, true, kLimits, kVoices), true);
  }
  // Pieces in, the same bytes out, however they were cut; nothing but blank sentences goes.
  SentenceBuffer buffer;
  std::string out;
  for (std::size_t at = 0; at < size; at += 7) {
    buffer.add(body.substr(at, 7));
    for (const auto& sentence : buffer.take_complete()) out += sentence;
  }
  out += buffer.take_rest();
  if (out.size() > size) std::abort();
  const auto ink = [](std::string_view text) {
    std::string kept;
    for (const char c : text) {
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') kept.push_back(c);
    }
    return kept;
  };
  if (ink(out) != ink(body)) std::abort();
  return 0;
}
