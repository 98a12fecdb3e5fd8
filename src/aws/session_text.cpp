// Reading of session messages.
#include "aws/session_text.hpp"

#include <nlohmann/json.hpp>

namespace headroom::aws {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestDetail = 300;

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

SessionText read_session_text(std::string_view text) {
  SessionText out;
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_object()) return out;
  const std::string type = text_of(parsed, "type");
  if (type == "synthesis_complete") out.kind = SessionText::Kind::kComplete;
  if (type != "error") return out;
  out.kind = SessionText::Kind::kError;
  const auto error = parsed.find("error");
  if (error == parsed.end() || !error->is_object()) return out;
  out.code = text_of(*error, "code");
  out.message = text_of(*error, "message");
  return out;
}

InvokeResult session_error(const SessionText& error) {
  InvokeResult out;
  const bool full = error.code == "queue_saturated";
  out.outcome = full ? Outcome::kRejected : Outcome::kFailed;
  out.status = full ? 503 : 0;
  out.error = "session error " + (error.code.empty() ? "without a code" : error.code);
  if (!error.message.empty()) out.error += ": " + error.message.substr(0, kLongestDetail);
  return out;
}

}  // namespace headroom::aws
