// The error table and its JSON form.
#include "serve/api_error.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace headroom::serve {
namespace {

constexpr std::array kRows{
    ApiErrorRow{ApiError::kInvalidJson, "invalid_json", 400},
    ApiErrorRow{ApiError::kMissingText, "missing_text", 400},
    ApiErrorRow{ApiError::kUnknownVoice, "unknown_voice", 400},
    ApiErrorRow{ApiError::kUnsupportedLanguage, "unsupported_language", 400},
    ApiErrorRow{ApiError::kUnsupportedFormat, "unsupported_format", 400},
    ApiErrorRow{ApiError::kUnsupportedSampleRate, "unsupported_sample_rate", 400},
    ApiErrorRow{ApiError::kInvalidSpeed, "invalid_speed", 400},
    ApiErrorRow{ApiError::kInvalidField, "invalid_field", 400},
    ApiErrorRow{ApiError::kUnspeakableText, "unspeakable_text", 400},
    ApiErrorRow{ApiError::kUnauthorized, "unauthorized", 401},
    ApiErrorRow{ApiError::kForbidden, "forbidden", 403},
    ApiErrorRow{ApiError::kNotFound, "not_found", 404},
    ApiErrorRow{ApiError::kMethodNotAllowed, "method_not_allowed", 405},
    ApiErrorRow{ApiError::kRequestStale, "request_stale", 408},
    ApiErrorRow{ApiError::kTextTooLong, "text_too_long", 413},
    ApiErrorRow{ApiError::kAnswerTooLarge, "answer_too_large", 413},
    ApiErrorRow{ApiError::kBodyTooLarge, "body_too_large", 413},
    ApiErrorRow{ApiError::kHeadersTooLarge, "headers_too_large", 431},
    ApiErrorRow{ApiError::kRequestTimeout, "request_timeout", 408},
    ApiErrorRow{ApiError::kBadRequest, "bad_request", 400},
    ApiErrorRow{ApiError::kUnsupportedMediaType, "unsupported_media_type", 415},
    ApiErrorRow{ApiError::kUpgradeRequired, "upgrade_required", 426},
    ApiErrorRow{ApiError::kQueueSaturated, "queue_saturated", 503},
    ApiErrorRow{ApiError::kStarting, "starting", 503},
    ApiErrorRow{ApiError::kDraining, "draining", 503},
    ApiErrorRow{ApiError::kInternal, "internal", 500},
};

}  // namespace

const ApiErrorRow& api_error_row(ApiError error) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(), [&](const auto& r) { return r.error == error; });
  return row == kRows.end() ? kRows.back() : *row;
}

ApiFailure to_failure(const base::Error& error) {
  if (error.context == "unspeakable_text") return {ApiError::kUnspeakableText, error.message};
  if (error.context == "unsupported_language") return {ApiError::kUnsupportedLanguage, error.message};
  if (error.context == "unsupported_sample_rate") return {ApiError::kUnsupportedSampleRate, error.message};
  if (error.context == "unsupported_format") return {ApiError::kUnsupportedFormat, error.message};
  return {ApiError::kInternal, base::describe(error)};  // for the log: public_message() says none of it
}

std::string public_message(const ApiFailure& failure) {
  return failure.error == ApiError::kInternal
             ? "the request failed inside the server; its log has the request id"
             : failure.message;
}

net::Response error_response(const ApiFailure& failure, std::string_view request_id) {
  const ApiErrorRow& row = api_error_row(failure.error);
  const nlohmann::json body{
      {"error", {{"code", row.code}, {"message", public_message(failure)}, {"request_id", request_id}}}};
  net::Response response;
  response.status = row.status;
  response.headers.add("content-type", "application/json");
  if (row.status == 503) response.headers.add("retry-after", "1");
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return response;
}

net::Response early_response(int status, const net::Request& seen) {
  switch (status) {
    case 413:
      return error_response({ApiError::kBodyTooLarge, "the body is over 1 MiB; send less text per request"},
                            seen.id);
    case 431:
      return error_response(
          {ApiError::kHeadersTooLarge,
           "the headers are over 16 KiB, or a chunk's extensions or the trailers over 64 KiB; send fewer"},
          seen.id);
    case 408:
      return error_response({ApiError::kRequestTimeout, "the request did not arrive whole in time"}, seen.id);
    default:
      return error_response({ApiError::kBadRequest, "this is not a well-formed HTTP/1.1 request"}, seen.id);
  }
}

}  // namespace headroom::serve
