// Result<T> and Error: how every module reports failure.
//
// Errors are values; exceptions of third-party libraries are caught in the adapter that calls them.
// A verdict (infeasible, lower bound, drifted) is not an error: it travels in the result with its evidence.
// Immutable after construction; safe to share.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace headroom::base {

// The kinds of failure. `error_table.hpp` maps each to an HTTP status, an AWS exception and an exit code.
enum class ErrorCode {
  kInvalidArgument,    // the caller's request or option is wrong
  kInvalidData,        // a file or a peer's answer does not have the form it must have
  kNotFound,           // the named thing does not exist
  kConflict,           // the named thing exists already or is in a state that forbids the action
  kRefused,            // we decline on purpose (unsafe, unmeasured, another fingerprint)
  kUnauthenticated,    // no or wrong credentials
  kForbidden,          // credentials are right but do not allow this
  kResourceExhausted,  // a quota or limit is reached
  kThrottled,          // asked too often; retry later
  kUnavailable,        // the peer is not there or not ready
  kTimeout,            // a deadline passed
  kCancelled,          // stopped by the user or by shutdown
  kIo,                 // reading or writing failed
  kUnsupported,        // valid, but not offered here
  kRemote,             // the remote service answered with an error of its own
  kInternal,           // a fault of ours
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one sentence that names the offending thing and the remedy
  std::string context;  // what was being done, or the peer's own error name; may be empty
};

template <class T>
using Result = tl::expected<T, Error>;

// `return fail(ErrorCode::kNotFound, "no endpoint 'x'; create it with ...")`
inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string context = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(context)});
}

// "message (context)": what a person reads.
std::string describe(const Error& error);

}  // namespace headroom::base
