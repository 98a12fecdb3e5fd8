// Classifies inference answers.
#include "aws/invoke_outcome.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace headroom::aws {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestDetail = 300;

std::string string_in(const json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct ContainerError {
  std::string code;
  std::string message;
};

// {"error":{"code","message"}} of ours, or the OpenAI form {"error":{"type","message"}}.
ContainerError read_container_error(const std::string& body) {
  const json parsed = json::parse(body, nullptr, false);
  ContainerError out{"", body};
  if (!parsed.is_object()) return out;
  const auto error = parsed.find("error");
  if (error == parsed.end() || !error->is_object()) {
    const std::string message = string_in(parsed, "message");
    if (!message.empty()) out.message = message;
    return out;
  }
  out.code = string_in(*error, "code");
  if (out.code.empty()) out.code = string_in(*error, "type");
  out.message = string_in(*error, "message");
  return out;
}

std::string join(const std::string& kind, const std::string& detail) {
  if (detail.empty()) return kind;
  std::string out = kind + ": " + detail.substr(0, kLongestDetail);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

bool is_refusal(int status, const std::string& code) {
  return (status == 503 || status == 429) && (code.empty() || code == "queue_saturated");
}

void judge_status(const AnswerFacts& facts, InvokeResult& out) {
  std::string type(facts.header("x-amzn-errortype"));
  type = type.substr(0, type.find(':'));
  const json parsed = json::parse(facts.body, nullptr, false);
  if (type.empty()) type = string_in(parsed, "__type");
  if (type == "ModelError") {
    const auto original = parsed.is_object() ? parsed.find("OriginalStatusCode") : parsed.end();
    if (parsed.is_object() && original != parsed.end() && original->is_number_integer())
      out.status = original->get<int>();
    const ContainerError inner = read_container_error(string_in(parsed, "OriginalMessage"));
    out.error =
        join("ModelError " + std::to_string(out.status) + (inner.code.empty() ? "" : " " + inner.code),
             inner.message.empty() ? string_in(parsed, "Message") : inner.message);
    if (is_refusal(out.status, inner.code)) out.outcome = Outcome::kRejected;
    return;
  }
  if (!type.empty()) {
    std::string message = string_in(parsed, "Message");
    if (message.empty()) message = string_in(parsed, "message");
    out.error = join(type + " " + std::to_string(facts.status), message);
    return;
  }
  const ContainerError plain = read_container_error(facts.body);
  out.error = join("HTTP " + std::to_string(facts.status) + (plain.code.empty() ? "" : " " + plain.code),
                   plain.message);
  if (!facts.event_stream && is_refusal(facts.status, plain.code)) out.outcome = Outcome::kRejected;
}

}  // namespace

InvokeResult judge_answer(const AnswerFacts& facts, bool timed_out, bool cancelled) {
  InvokeResult out;
  out.status = facts.status;
  out.server_request_id = facts.header("x-request-id");
  if (out.server_request_id.empty()) out.server_request_id = facts.header("x-amzn-requestid");
  out.variant = facts.header("x-amzn-invoked-production-variant");
  out.content_type = facts.header(facts.event_stream ? "x-amzn-sagemaker-content-type" : "content-type");
  if (cancelled) {
    out.outcome = Outcome::kAborted;
    out.error = "cancelled";
    return out;
  }
  if (timed_out) {
    out.outcome = Outcome::kTimedOut;
    out.error = facts.got_bytes ? "timed out while audio was coming" : "timed out before the first audio";
    return out;
  }
  if (!facts.failure_type.empty()) {
    const json payload = json::parse(facts.failure_payload, nullptr, false);
    const std::string code = string_in(payload, "ErrorCode");
    const std::string message = string_in(payload, "Message");
    out.error = join(facts.failure_type + (code.empty() ? "" : " " + code),
                     message.empty() ? facts.failure_payload : message);
    return out;
  }
  if (!facts.connection_error.empty()) {
    out.error = facts.connection_error;
    return out;
  }
  if (facts.status < 200 || facts.status >= 300) {
    judge_status(facts, out);
    return out;
  }
  if (facts.event_stream && !facts.decoded) {
    out.error = join("not an event stream",
                     out.content_type.empty() ? std::string(facts.header("content-type")) : out.content_type);
    return out;
  }
  if (facts.truncated) {
    out.error = "stream truncated: its last event frame is cut short";
    return out;
  }
  if (!facts.got_bytes) {
    out.error = "empty answer: a success without audio";
    return out;
  }
  out.outcome = Outcome::kOk;
  return out;
}

}  // namespace headroom::aws
