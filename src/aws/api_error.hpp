// Internal to src/aws: what an error answer of an AWS API says, whatever its protocol.
//
// Pure. JSON services carry `__type`, restJson and JSON services X-Amzn-ErrorType, CloudWatch
// x-amzn-query-error, the query protocol XML. The part before '#' and after ':' of a type is dropped, as
// botocore does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headroom::aws {

using HeaderLookup = std::function<std::optional<std::string>(std::string_view lower_case_name)>;

struct ApiError {
  std::string code;     // ResourceNotFound, ThrottlingException, ...; "HTTP 502" where the answer has none
  std::string message;  // the service's own words
  bool throttled = false;
  bool transient = false;  // worth another try
};
ApiError parse_api_error(int status, const HeaderLookup& header, std::string_view body);

base::ErrorCode error_code_for(int status, std::string_view aws_code, std::string_view message);
// "<Operation> of '<resource>': <message>", context = AWS code.
base::Error to_error(int status, const ApiError& error, std::string_view operation,
                     std::string_view resource);

// The text of the first <tag>..</tag>, with entities decoded; nullopt if there is none.
std::optional<std::string> xml_text(std::string_view xml, std::string_view tag);

}  // namespace headroom::aws
