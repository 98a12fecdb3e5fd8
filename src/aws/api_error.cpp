// Reads error answers of every AWS protocol and maps their codes.
#include "aws/api_error.hpp"

#include <array>

#include <nlohmann/json.hpp>

namespace headroom::aws {
namespace {

using base::ErrorCode;
using nlohmann::json;

std::string bare_code(std::string_view type) {
  if (const auto hash = type.rfind('#'); hash != std::string_view::npos) type.remove_prefix(hash + 1);
  if (const auto colon = type.find(':'); colon != std::string_view::npos) type = type.substr(0, colon);
  return std::string(type);
}

std::string first_string(const json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string()) return found->get<std::string>();
  }
  return {};
}

bool any_of(std::string_view code, std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (code == name) return true;
  }
  return false;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The codes that botocore's standard retry mode treats so.
bool is_throttling(std::string_view code) {
  return any_of(code, {"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
                       "TooManyRequestsException", "ProvisionedThroughputExceededException",
                       "RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException.Throttling",
                       "RequestThrottled", "SlowDown", "PriorRequestNotComplete", "EC2ThrottledException"});
}

}  // namespace

std::optional<std::string> xml_text(std::string_view xml, std::string_view tag) {
  const std::string open = "<" + std::string(tag) + ">";
  const std::string close = "</" + std::string(tag) + ">";
  const auto from = xml.find(open);
  if (from == std::string_view::npos) return std::nullopt;
  const auto begin = from + open.size();
  const auto end = xml.find(close, begin);
  if (end == std::string_view::npos) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
  std::string out;
  for (std::size_t i = begin; i < end;) {
    bool entity = false;
    for (const auto& [name, character] : kEntities) {
      if (xml.substr(i, name.size()) == name) {
        out += character;
        i += name.size();
        entity = true;
        break;
      }
    }
    if (!entity) out += xml[i++];
  }
  return out;
}

ApiError parse_api_error(int status, const HeaderLookup& header, std::string_view body) {
  ApiError out;
  if (body.find_first_not_of(" \r\n\t") != std::string_view::npos &&
      body[body.find_first_not_of(" \r\n\t")] == '<') {
    out.code = xml_text(body, "Code").value_or("");
    out.message = xml_text(body, "Message").value_or("");
  } else {
    const json parsed = json::parse(body, nullptr, false);
    if (parsed.is_object()) {
      out.code = bare_code(first_string(parsed, {"__type", "code", "Code"}));
      out.message = first_string(parsed, {"message", "Message", "errorMessage"});
    }
  }
  if (const auto type = header("x-amzn-errortype")) out.code = bare_code(*type);
  if (const auto query = header("x-amzn-query-error")) out.code = query->substr(0, query->find(';'));
  if (out.code.empty()) out.code = "HTTP " + std::to_string(status);
  if (out.message.empty()) out.message = "the service gave no reason";
  out.throttled = status == 429 || is_throttling(out.code);
  out.transient =
      out.throttled || status == 500 || status == 502 || status == 503 || status == 504 ||
      any_of(out.code, {"RequestTimeout", "RequestTimeoutException", "InternalFailure",
                        "InternalServiceFault", "ServiceUnavailable", "ConcurrentUpdateException"});
  return out;
}

ErrorCode error_code_for(int status, std::string_view code, std::string_view message) {
  if (status == 429 || is_throttling(code)) return ErrorCode::kThrottled;
  if (any_of(code, {"AccessDenied", "AccessDeniedException", "NotAuthorized", "OptInRequired"}))
    return ErrorCode::kForbidden;
  if (any_of(code, {"UnrecognizedClientException", "InvalidClientTokenId", "SignatureDoesNotMatch",
                    "ExpiredToken", "ExpiredTokenException", "MissingAuthenticationToken",
                    "MissingAuthenticationTokenException", "InvalidSignatureException", "IncompleteSignature",
                    "IncompleteSignatureException", "RequestExpired"})) {
    return ErrorCode::kUnauthenticated;
  }
  if (any_of(code, {"ResourceNotFound", "ResourceNotFoundException", "ObjectNotFoundException",
                    "NoSuchResourceException", "ResourceNotFoundFault"}) ||
      // SageMaker says a missing endpoint with ValidationException.
      (code == "ValidationException" &&
       (contains(message, "Could not find") || contains(message, "not found") ||
        contains(message, "does not exist")))) {
    return ErrorCode::kNotFound;
  }
  if (any_of(code, {"ResourceLimitExceeded", "LimitExceeded", "LimitExceededException",
                    "QuotaExceededException", "ServiceQuotaExceededException"})) {
    return ErrorCode::kResourceExhausted;
  }
  if (any_of(code,
             {"ResourceInUse", "ConflictException", "ResourceInUseException", "ConcurrentUpdateException"}) ||
      (code == "ValidationException" &&
       (contains(message, "Cannot update in-progress") || contains(message, "already exist") ||
        contains(message, "in progress")))) {
    return ErrorCode::kConflict;
  }
  if (any_of(code, {"ServiceUnavailable", "ServiceUnavailableException"}) || status == 503)
    return ErrorCode::kUnavailable;
  if (status >= 500) return ErrorCode::kRemote;
  if (status >= 400) return ErrorCode::kInvalidArgument;
  return ErrorCode::kRemote;
}

base::Error to_error(int status, const ApiError& error, std::string_view operation,
                     std::string_view resource) {
  std::string message(operation);
  if (!resource.empty()) message += " of '" + std::string(resource) + "'";
  message += ": " + error.message;
  if (contains(error.message, "Signature expired") || contains(error.message, "not yet current") ||
      any_of(error.code, {"RequestTimeTooSkewed", "RequestExpired"})) {
    message += " This machine's clock is off, or the service's is: set it by NTP.";
  }
  return {error_code_for(status, error.code, error.message), std::move(message), error.code};
}

}  // namespace headroom::aws
