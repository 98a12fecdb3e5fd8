// STS in the query protocol.
#include "aws/sts.hpp"

#include "aws/api_error.hpp"

namespace headroom::aws {

base::Result<CallerIdentity> get_caller_identity(Transport& transport, base::Deadline deadline) {
  ApiRequest request;
  request.service = Service::kSts;
  request.operation = "GetCallerIdentity";
  request.body = "Action=GetCallerIdentity&Version=2011-06-15";
  request.deadline = deadline;
  auto answer = transport.send(request);
  if (!answer) return tl::unexpected(answer.error());
  const auto account = xml_text(*answer, "Account");
  if (!account) {
    return base::fail(base::ErrorCode::kInvalidData,
                      "GetCallerIdentity: the answer names no account; check the endpoint URL",
                      answer->substr(0, 200));
  }
  return CallerIdentity{*account, xml_text(*answer, "Arn").value_or(""),
                        xml_text(*answer, "UserId").value_or("")};
}

}  // namespace headroom::aws
