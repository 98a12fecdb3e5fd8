// Builds the frames.
#include "serve/speech_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace headroom::serve {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

double rounded(double value, double to) { return std::round(value * to) / to; }

}  // namespace

std::string start_json(const SpeechStart& start, std::string_view request_id) {
  return text_of({{"type", "synthesis_start"},
                  {"request_id", request_id},
                  {"voice", start.voice},
                  {"format", start.format},
                  {"content_type", start.content_type},
                  {"sample_rate", start.sample_rate}});
}

std::string complete_json(const SpeechSummary& summary, std::string_view request_id) {
  auto segments = ordered_json::array();
  for (const auto& segment : summary.segments) {
    segments.push_back({{"start_s", rounded(segment.start_s, 1e4)},
                        {"end_s", rounded(segment.end_s, 1e4)},
                        {"characters", segment.characters}});
  }
  return text_of({{"type", "synthesis_complete"},
                  {"request_id", request_id},
                  {"cancelled", false},
                  {"duration", rounded(summary.audio_s, 1e4)},
                  {"duration_s", rounded(summary.audio_s, 1e4)},
                  {"characters", summary.characters},
                  {"phonemes", summary.phonemes},
                  {"timings",
                   {{"queue_ms", rounded(summary.queue_ms, 10)},
                    {"first_audio_ms", rounded(summary.first_audio_ms, 10)},
                    {"synthesis_ms", rounded(summary.synthesis_ms, 10)},
                    {"total_ms", rounded(summary.total_ms, 10)},
                    {"segments", segments}}}});
}

std::string cancelled_json(std::string_view request_id) {
  return text_of({{"type", "synthesis_complete"}, {"request_id", request_id}, {"cancelled", true}});
}

std::string error_json(const ApiFailure& failure, std::string_view request_id) {
  const ordered_json id = request_id.empty() ? ordered_json() : ordered_json(request_id);
  return text_of({{"type", "error"},
                  {"request_id", id},
                  {"error",
                   {{"code", api_error_row(failure.error).code},
                    {"message", public_message(failure)},
                    {"request_id", id}}}});
}

std::string base64(std::string_view bytes) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t j) {
      return i + j < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + j])) : 0U;
    };
    const std::uint32_t word = at(0) << 16U | at(1) << 8U | at(2);
    out.push_back(kAlphabet[word >> 18U & 63U]);
    out.push_back(kAlphabet[word >> 12U & 63U]);
    out.push_back(i + 1 < bytes.size() ? kAlphabet[word >> 6U & 63U] : '=');
    out.push_back(i + 2 < bytes.size() ? kAlphabet[word & 63U] : '=');
  }
  return out;
}

}  // namespace headroom::serve
