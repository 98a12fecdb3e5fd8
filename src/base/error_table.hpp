// The one table that maps an ErrorCode to its name, HTTP status, AWS exception and exit code.
#pragma once

#include <array>
#include <string_view>

#include "base/result.hpp"

namespace headroom::base {

// Exit codes of every program (SPEC 2): 3 and 4 are verdicts and are chosen by the commands themselves.
inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNegative = 3;
inline constexpr int kExitInconclusive = 4;
inline constexpr int kExitInterrupted = 130;

struct ErrorRow {
  ErrorCode code;
  std::string_view name;           // in logs and JSON
  int http_status;                 // when it becomes an HTTP answer
  std::string_view aws_exception;  // when it becomes an answer of an AWS JSON API
  int exit_code;                   // when a program ends with it
};

const ErrorRow& error_row(ErrorCode code);

}  // namespace headroom::base
