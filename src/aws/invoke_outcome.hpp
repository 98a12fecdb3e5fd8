// Internal to src/aws: decides what an inference answer was, from what came over the wire.
//
// Pure. Wire rules: SageMaker reports a container's error answer as ModelError 424 with OriginalStatusCode
// and OriginalMessage; the container's body is {"error":{"code","message"}}. Rejected is 503 (or 429) that
// says queue_saturated or says nothing: `draining` and SageMaker's own ServiceUnavailable are failures.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aws/invoke.hpp"

namespace headroom::aws {

struct AnswerFacts {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;                                          // of an answer that is not audio
  bool event_stream = false;                                 // the transport asked for one
  bool decoded = false;                                      // and the answer was one
  bool truncated = false;                                    // it ended inside a frame
  bool got_bytes = false;                                    // any audio
  std::string failure_type;                                  // of an exception or error frame
  std::string failure_payload;
  std::string connection_error;  // "" = the HTTP exchange was complete

  std::string_view header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers) {
      if (name == lower_case_name) return value;
    }
    return {};
  }
};

// error is "<kind>: <details>"; the kind has no ids in it, so that equal faults can be counted together.
InvokeResult judge_answer(const AnswerFacts& facts, bool timed_out, bool cancelled);

}  // namespace headroom::aws
