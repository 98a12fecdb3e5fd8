// The rows of the error table.
#include "base/error_table.hpp"

namespace headroom::base {
namespace {

constexpr std::array kRows{
    ErrorRow{ErrorCode::kInvalidArgument, "invalid_argument", 400, "ValidationException", kExitUsage},
    ErrorRow{ErrorCode::kInvalidData, "invalid_data", 400, "ValidationException", kExitFailed},
    ErrorRow{ErrorCode::kNotFound, "not_found", 404, "ResourceNotFound", kExitFailed},
    ErrorRow{ErrorCode::kConflict, "conflict", 409, "ResourceInUse", kExitFailed},
    ErrorRow{ErrorCode::kRefused, "refused", 409, "ValidationException", kExitNegative},
    ErrorRow{ErrorCode::kUnauthenticated, "unauthenticated", 403, "UnrecognizedClientException", kExitFailed},
    ErrorRow{ErrorCode::kForbidden, "forbidden", 403, "AccessDeniedException", kExitFailed},
    ErrorRow{ErrorCode::kResourceExhausted, "resource_exhausted", 400, "ResourceLimitExceeded", kExitFailed},
    ErrorRow{ErrorCode::kThrottled, "throttled", 429, "ThrottlingException", kExitFailed},
    ErrorRow{ErrorCode::kUnavailable, "unavailable", 503, "ServiceUnavailable", kExitFailed},
    ErrorRow{ErrorCode::kTimeout, "timeout", 504, "ServiceUnavailable", kExitFailed},
    ErrorRow{ErrorCode::kCancelled, "cancelled", 499, "ServiceUnavailable", kExitInterrupted},
    ErrorRow{ErrorCode::kIo, "io", 500, "InternalFailure", kExitFailed},
    ErrorRow{ErrorCode::kUnsupported, "unsupported", 501, "ValidationException", kExitUsage},
    ErrorRow{ErrorCode::kRemote, "remote", 502, "InternalFailure", kExitFailed},
    ErrorRow{ErrorCode::kInternal, "internal", 500, "InternalFailure", kExitFailed},
};

}  // namespace

const ErrorRow& error_row(ErrorCode code) {
  for (const ErrorRow& row : kRows) {
    if (row.code == code) return row;
  }
  return kRows.back();
}

std::string describe(const Error& error) {
  return error.context.empty() ? error.message : error.message + " (" + error.context + ")";
}

}  // namespace headroom::base
