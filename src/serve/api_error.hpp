// The errors of the serving API (SPEC 1.2) and the JSON they become.
//
// Internal texts never reach a client: kInternal always says the same. Immutable, shared.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/http.hpp"

namespace headroom::serve {

enum class ApiError {
  kInvalidJson,
  kMissingText,
  kUnknownVoice,
  kUnsupportedLanguage,
  kUnsupportedFormat,
  kUnsupportedSampleRate,
  kInvalidSpeed,
  kInvalidField,
  kUnspeakableText,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kMethodNotAllowed,
  kRequestStale,
  kTextTooLong,
  kAnswerTooLarge,
  kBodyTooLarge,
  kHeadersTooLarge,
  kRequestTimeout,
  kBadRequest,
  kUnsupportedMediaType,
  kUpgradeRequired,
  kQueueSaturated,
  kStarting,
  kDraining,
  kInternal,
};

struct ApiErrorRow {
  ApiError error;
  std::string_view code;
  int status;
};

const ApiErrorRow& api_error_row(ApiError error);

struct ApiFailure {
  ApiError error = ApiError::kInternal;
  std::string message;  // names the thing and the remedy
};

// Of an error within; its context may be a code of the API (speech_plan.hpp).
ApiFailure to_failure(const base::Error& error);
// What a client may read of it.
std::string public_message(const ApiFailure& failure);
net::Response error_response(const ApiFailure& failure, std::string_view request_id);
// For what fails before a handler runs: 400, 408, 413, 431.
net::Response early_response(int status, const net::Request& seen);

}  // namespace headroom::serve
