// Replies of the AWS protocols: one result or error, said in JSON 1.0/1.1, query XML or CBOR.
//
// Pure, shared. An Error becomes AWS's exception by its context (a shape name) or, if that is empty, by the
// table of the service. Source: aws-clients notes in docs/local-cloud.md (captured from the official
// clients).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cloud/operations.hpp"
#include "net/http.hpp"

namespace headroom::cloud {

enum class Protocol { kJson, kQuery, kCbor };

struct CallInfo {
  const Service* service = nullptr;
  Protocol protocol = Protocol::kJson;
  std::string operation;
  std::string request_id;
};

net::Response success_reply(const CallInfo& call, const Json& result);
net::Response error_reply(const CallInfo& call, const base::Error& error);
// Where no service is known: JSON with __type.
net::Response plain_error(int status, std::string_view exception, std::string_view message);
// SageMaker runtime's form: x-amzn-ErrorType and {"Message": ...} plus `more`.
net::Response runtime_error(int status, std::string_view exception, std::string_view message,
                            Json more = Json::object());

}  // namespace headroom::cloud
