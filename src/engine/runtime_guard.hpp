// Turns what an inference runtime throws into a value. Internal.
//
// The runtime's own text is context for the log, never for a client. Thread safety: as the call's. Errors:
// `code` for anything thrown, and those of the call.
#pragma once

#include <exception>
#include <string_view>

#include <fmt/format.h>

#include "base/result.hpp"

namespace headroom::engine {

// `runtime` and `doing` make the message: "OpenVINO failed while synthesizing".
template <class F>
auto guarded(std::string_view runtime, base::ErrorCode code, std::string_view doing, F&& call)
    -> decltype(call()) {
  const auto failed = [&](const char* why) {
    return base::fail(code, fmt::format("{} failed while {}", runtime, doing), why);
  };
  try {
    return call();
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("unknown exception");
  }
}

}  // namespace headroom::engine
