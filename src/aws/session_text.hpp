// Session text: what a text message of the container's bidirectional session means to a load driver.
//
// Pure. Messages are JSON objects with a `type`: synthesis_start, synthesis_complete (with `cancelled`),
// error (with error.code and error.message); others mean nothing here. Source: SPEC 1.1, docs/serving-api.md.
#pragma once

#include <string>
#include <string_view>

#include "aws/invoke.hpp"

namespace headroom::aws {

struct SessionText {
  enum class Kind { kOther, kComplete, kError } kind = Kind::kOther;
  std::string code;  // of an error
  std::string message;
};
SessionText read_session_text(std::string_view json);
// The result of a request that ended with this error: rejected where the queue was full.
InvokeResult session_error(const SessionText& error);

}  // namespace headroom::aws
