// Status codes, shapes and bodies.
#include "cloud/reply.hpp"

#include <fmt/format.h>

#include "cloud/wire_cbor.hpp"
#include "cloud/wire_query.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;

std::string_view exception_of(const Service& service, const base::Error& error) {
  if (!error.context.empty()) return error.context;
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kRefused:
    case ErrorCode::kUnsupported:
      return service.exceptions.invalid;
    case ErrorCode::kInvalidData:
      return "SerializationException";
    case ErrorCode::kNotFound:
      return service.exceptions.missing;
    case ErrorCode::kConflict:
      return service.exceptions.conflict;
    case ErrorCode::kResourceExhausted:
      return service.exceptions.limit;
    case ErrorCode::kUnauthenticated:
      return "UnrecognizedClientException";
    case ErrorCode::kForbidden:
      return "AccessDeniedException";
    case ErrorCode::kThrottled:
      return "ThrottlingException";
    default:
      return service.exceptions.internal;
  }
}

struct CodeRow {
  std::string_view shape, code;
};
// Shapes of CloudWatch whose query code differs from their name (the service model's error traits).
constexpr CodeRow kQueryCodes[] = {
    {"InvalidParameterValueException", "InvalidParameterValue"},
    {"InvalidParameterCombinationException", "InvalidParameterCombination"},
    {"MissingRequiredParameterException", "MissingParameter"},
    {"LimitExceededFault", "LimitExceeded"},
    {"InternalServiceFault", "InternalServiceError"},
    {"InvalidFormatFault", "InvalidFormat"},
    {"ValidationException", "ValidationError"},
    {"UnknownOperationException", "InvalidAction"},
    {"SerializationException", "MalformedInput"},
    {"InvalidSignatureException", "SignatureDoesNotMatch"},
    {"UnrecognizedClientException", "InvalidClientTokenId"},
    {"MissingAuthenticationTokenException", "MissingAuthenticationToken"},
    {"IncompleteSignatureException", "IncompleteSignature"},
    {"AccessDeniedException", "AccessDenied"},
    {"ThrottlingException", "Throttling"},
};

std::string_view query_code(std::string_view shape) {
  for (const CodeRow& row : kQueryCodes) {
    if (row.shape == shape) return row.code;
  }
  return shape;
}

int status_of(const Service& service, const base::Error& error, std::string_view exception) {
  if (error.code == ErrorCode::kUnauthenticated || error.code == ErrorCode::kForbidden) return 403;
  if (exception == service.exceptions.internal || error.code == ErrorCode::kInternal) return 500;
  if (service.name == "monitoring" && error.code == ErrorCode::kNotFound &&
      exception != "UnknownOperationException")
    return 404;
  return 400;
}

net::Response base_reply(int status, std::string_view type, std::string body, std::string_view request_id) {
  net::Response out;
  out.status = status;
  out.headers.set("Content-Type", std::string(type));
  if (!request_id.empty()) out.headers.set("x-amzn-RequestId", std::string(request_id));
  out.body = std::move(body);
  return out;
}

}  // namespace

net::Response success_reply(const CallInfo& call, const Json& result) {
  if (call.protocol == Protocol::kQuery)
    return base_reply(200, "text/xml",
                      query_reply(call.operation, call.service->query_namespace, result, call.request_id),
                      call.request_id);
  if (call.protocol == Protocol::kCbor) {
    auto out = base_reply(200, "application/cbor", encode_cbor(result), call.request_id);
    out.headers.set("smithy-protocol", "rpc-v2-cbor");
    return out;
  }
  return base_reply(200, call.service->content_type, dump(result), call.request_id);
}

net::Response error_reply(const CallInfo& call, const base::Error& error) {
  const Service& service = *call.service;
  const std::string_view exception = exception_of(service, error);
  const int status = status_of(service, error, exception);
  if (call.protocol == Protocol::kQuery)
    return base_reply(status, "text/xml",
                      query_error(service.query_namespace, query_code(exception), error.message, status < 500,
                                  call.request_id),
                      call.request_id);
  const bool cloudwatch = service.name == "monitoring";
  const std::string type =
      cloudwatch ? fmt::format("com.amazonaws.cloudwatch#{}", exception) : std::string(exception);
  const Json body{{"__type", type}, {"message", error.message}};
  auto out = call.protocol == Protocol::kCbor
                 ? base_reply(status, "application/cbor", encode_cbor(body), call.request_id)
                 : base_reply(status, service.content_type, dump(body), call.request_id);
  if (call.protocol == Protocol::kCbor) out.headers.set("smithy-protocol", "rpc-v2-cbor");
  if (cloudwatch)
    out.headers.set("x-amzn-query-error",
                    fmt::format("{};{}", query_code(exception), status < 500 ? "Sender" : "Receiver"));
  return out;
}

net::Response plain_error(int status, std::string_view exception, std::string_view message) {
  return base_reply(status, "application/x-amz-json-1.1", dump({{"__type", exception}, {"message", message}}),
                    "");
}

net::Response runtime_error(int status, std::string_view exception, std::string_view message, Json more) {
  more["Message"] = message;
  auto out = base_reply(status, "application/json", dump(more), "");
  out.headers.set("x-amzn-ErrorType", std::string(exception));
  return out;
}

}  // namespace headroom::cloud
